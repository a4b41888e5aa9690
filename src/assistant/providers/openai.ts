// Any model behind the chat completions API, which many providers and programs implement.
import { randomUUID } from 'node:crypto';
import { isObject, parseIfJson } from '../../base/object.ts';
import type { Mask } from '../../base/secrets.ts';
import { excerpt } from '../../base/text.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import { head, wellFormed } from '../cut.ts';
import {
  type Completion,
  type CompletionRequest,
  type Message,
  ModelFailure,
  type ModelTool,
  NO_USAGE,
  type Provider,
  readCount,
  readRetryAfter,
  type ToolUse,
  type Usage,
} from '../provider.ts';
import { abortable } from './abortable.ts';
import {
  type ApiOptions,
  type ApiReply,
  createPost,
  describeRedirect,
  maskFor,
  messageIn,
} from './http.ts';
import { toAcceptedTool } from './tool-schema.ts';

const OWN_ADDRESS = 'https://api.openai.com/v1';
const NEW_LIMIT = 'max_completion_tokens';

export function createOpenAi(options: ApiOptions): Provider {
  const { apiKey, keyVariable, baseUrl = OWN_ADDRESS, model = '', maxTokens } = options;
  const address = `${baseUrl.replace(/\/+$/, '')}/chat/completions`;
  // OpenAI has renamed it; most other implementations only support the old name.
  let limit = baseUrl.startsWith(OWN_ADDRESS) ? NEW_LIMIT : 'max_tokens';
  const mask = maskFor(options);
  const post = createPost(options.env);
  return {
    name: 'openai',
    model,
    keyVariable,
    complete: ({ system, messages, tools, cancellation }: CompletionRequest) =>
      abortable(cancellation, async (signal) => {
        const accepted = tools.map((tool) => toAcceptedTool(tool));
        const body = {
          model,
          messages: [
            {
              role: 'system',
              content: [system, ...accepted.flatMap(longDescription)].join('\n\n'),
            },
            ...messages.flatMap(toMessages),
          ],
          ...(accepted.length > 0 && { tools: accepted.map(toTool) }),
        };
        const headers = {
          'content-type': 'application/json',
          ...(apiKey && { authorization: `Bearer ${apiKey}` }),
        };
        const send = (): Promise<ApiReply> => {
          const text = JSON.stringify(wellFormed({ ...body, [limit]: maxTokens }));
          return post(address, { headers, body: text, signal });
        };
        try {
          let reply = await send();
          if (limit !== NEW_LIMIT && isLimitUnknown(reply)) {
            limit = NEW_LIMIT;
            reply = await send();
          }
          return toCompletion(readReply(reply, mask), mask);
        } catch (error) {
          if (error instanceof ModelFailure || signal.aborted) throw error;
          throw new ModelFailure(excerpt(describe(error), 300, mask));
        }
      }),
  };
}

/** Whether only the old name of the limit was refused, as by OpenAI's models on other platforms. */
function isLimitUnknown({ status, text }: ApiReply): boolean {
  if (status !== 400) return false;
  const value = parseIfJson(text);
  const error = isObject(value) ? value['error'] : undefined;
  return (
    isObject(error) && error['param'] === 'max_tokens' && error['code'] === 'unsupported_parameter'
  );
}

function readReply({ ok, status, headers, text }: ApiReply, mask: Mask): unknown {
  const value = parseIfJson(text);
  if (ok && value !== undefined) return value;
  if (ok) throw new ModelFailure('it is not JSON', { isUnreadable: true });
  const said = describeRedirect(status, headers) ?? messageIn(value) ?? text;
  throw new ModelFailure(excerpt(said, 300, mask) || 'no reason given', {
    status,
    retryAfterMs: readRetryAfter(headers),
  });
}

function toMessages(message: Message): object[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: message.text }];
    case 'assistant':
      return [message.answer.raw as object];
    case 'said':
      return [{ role: 'assistant', content: message.text }];
    case 'tools':
      return message.outcomes.map(({ id, text, isError }) => ({
        role: 'tool',
        tool_call_id: id,
        content: isError ? `Error: ${text}` : text,
      }));
  }
}

/** The API rejects longer descriptions. Some implementations also reject a schema without properties. */
const LONGEST_DESCRIPTION = 1_024;

function toTool({ name, description, inputSchema }: ModelTool): object {
  const short = head(description, LONGEST_DESCRIPTION);
  const parameters = { properties: {}, ...inputSchema };
  return { type: 'function', function: { name, description: short, parameters } };
}

/** Long descriptions go to the system prompt. */
function longDescription({ name, description }: ModelTool): string[] {
  if (description.length <= LONGEST_DESCRIPTION) return [];
  return [`About the tool ${name}:\n${description}`];
}

function toCompletion(answer: unknown, mask: Mask): Completion {
  const choices = isObject(answer) && Array.isArray(answer['choices']) ? answer['choices'] : [];
  const choice: unknown = choices[0];
  const message = isObject(choice) ? choice['message'] : undefined;
  if (!isObject(choice) || !isObject(message)) {
    const said = messageIn(answer) ?? messageIn(choice) ?? 'it is not a message';
    throw new ModelFailure(excerpt(said, 300, mask), { isUnreadable: true });
  }
  const { content, tool_calls: calls, refusal, reasoning_content: thoughts } = message;
  const uses = Array.isArray(calls) ? readUses(calls) : [];
  const isRefused = typeof refusal === 'string' && refusal !== '';
  const text = textOf(content);
  return {
    text: isRefused ? refusal : text,
    toolCalls: uses.map(({ use }) => use),
    stop: isRefused ? 'refused' : toStop(choice['finish_reason'], uses.length),
    usage: toUsage(isObject(answer) ? answer['usage'] : undefined),
    // Only what we understood: the API rejects the next request if one of its calls has no result.
    raw: {
      role: 'assistant',
      content: text === '' && uses.length > 0 ? null : text,
      ...(uses.length > 0 && { tool_calls: uses.map(({ raw }) => raw) }),
      // Some models need their reasoning back, and reject tool results without it.
      ...(typeof thoughts === 'string' && { reasoning_content: thoughts }),
    },
  };
}

/** A string, or a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return withoutThoughts(content);
  if (!Array.isArray(content)) return '';
  const texts = content.map((part: unknown) => (isObject(part) ? part['text'] : part));
  return texts.filter((text) => typeof text === 'string').join('\n');
}

/** Local models may print their thoughts before the answer. */
function withoutThoughts(text: string): string {
  return text.replace(/^\s*<think>[^]*?<\/think>\s*/, '');
}

/** A call, and the form in which it is sent back. */
interface ReadUse {
  readonly use: ToolUse;
  readonly raw: object;
}

function readUses(calls: readonly unknown[]): ReadUse[] {
  const ids = new Set<string>();
  return calls.flatMap((call) => {
    const used = isObject(call) ? call['function'] : undefined;
    if (!isObject(call) || !isObject(used) || typeof used['name'] !== 'string') return [];
    const { name, arguments: written } = used;
    const args = readArguments(written);
    const given = call['id'];
    // Some send no id or repeat it, but a result must match its call.
    const id = typeof given === 'string' && given !== '' && !ids.has(given) ? given : randomUUID();
    ids.add(id);
    // Some require their extra members back.
    const raw = {
      ...call,
      id,
      type: 'function',
      function: { ...used, arguments: args?.text ?? '{}' },
    };
    return [{ use: { id, name, args }, raw }];
  });
}

/** Some omit empty arguments, and some send an object instead of a JSON string. */
function readArguments(written: unknown): Verbatim | undefined {
  if (typeof written !== 'string') return asArguments(Verbatim.of(written ?? {}));
  try {
    return asArguments(Verbatim.parse(written || '{}'));
  } catch {
    return undefined; // not JSON
  }
}

function asArguments(read: Verbatim): Verbatim | undefined {
  return isObject(read.value) ? read : undefined;
}

function toStop(reason: unknown, uses: number): Completion['stop'] {
  if (reason === 'length') return 'limit';
  if (reason === 'content_filter') return 'refused';
  return uses > 0 ? 'tools' : 'done';
}

function toUsage(usage: unknown): Usage {
  if (!isObject(usage)) return NO_USAGE;
  const { prompt_tokens: read, completion_tokens: written } = usage;
  return { inputTokens: readCount(read), outputTokens: readCount(written) };
}

function describe(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: '' };
  return cause instanceof Error ? `${message.replace(/\.$/, '')}: ${cause.message}` : message;
}
