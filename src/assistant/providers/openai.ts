// Any model behind the chat completions API, which many providers and programs speak.
import { Readable } from 'node:stream';
import { createMask, type Mask } from '../../base/secrets.ts';
import { excerpt } from '../../base/text.ts';
import { readText } from '../../child/remote/body.ts';
import { isObject } from '../../rpc/message.ts';
import {
  type Completion,
  type CompletionRequest,
  type Message,
  ModelFailure,
  type ModelTool,
  NO_USAGE,
  type Provider,
  readRetryAfter,
  type ToolUse,
  type Usage,
} from '../provider.ts';
import { abortable } from './abortable.ts';

/** What every provider with an address and a key is made of. */
export interface ApiOptions {
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
  readonly model: string | undefined;
  readonly maxTokens: number;
}

const OWN_ADDRESS = 'https://api.openai.com/v1';
/** No answer of a model is longer than this. */
const MOST_BYTES = 32 << 20;

export function createOpenAi(options: ApiOptions): Provider {
  const { apiKey, baseUrl = OWN_ADDRESS, model = '', maxTokens } = options;
  const address = `${baseUrl.replace(/\/+$/, '')}/chat/completions`;
  // The provider itself has renamed it; those who speak its language mostly know the old name alone.
  const limit = baseUrl.startsWith(OWN_ADDRESS) ? 'max_completion_tokens' : 'max_tokens';
  const mask = createMask([apiKey ?? '']);
  return {
    name: 'openai',
    model,
    complete: ({ system, messages, tools, cancellation }: CompletionRequest) =>
      abortable(cancellation, async (signal) => {
        const body = {
          model,
          [limit]: maxTokens,
          messages: [{ role: 'system', content: system }, ...messages.flatMap(toMessages)],
          ...(tools.length > 0 && { tools: tools.map(toTool) }),
        };
        const headers = {
          'content-type': 'application/json',
          ...(apiKey && { authorization: `Bearer ${apiKey}` }),
        };
        const request = { method: 'POST', headers, body: JSON.stringify(body), signal };
        try {
          return toCompletion(await send(address, request, mask));
        } catch (error) {
          if (error instanceof ModelFailure || signal.aborted) throw error;
          throw new ModelFailure(excerpt(describe(error), 300, mask));
        }
      }),
  };
}

/** The answer's JSON. */
async function send(address: string, request: RequestInit, mask: Mask): Promise<unknown> {
  const response = await fetch(address, request);
  const { ok, status, headers } = response;
  const stream = response.body;
  const text = stream ? await readText(Readable.fromWeb(stream), MOST_BYTES) : '';
  const value = parse(text);
  if (ok && value !== undefined) return value;
  if (ok) throw new ModelFailure('it is no JSON', { isUnreadable: true });
  throw new ModelFailure(excerpt(messageIn(value) ?? text, 300, mask) || 'it gives no reason', {
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
    case 'tools':
      return message.outcomes.map(({ id, text, isError }) => ({
        role: 'tool',
        tool_call_id: id,
        content: isError ? `Error: ${text}` : text,
      }));
  }
}

/** A schema without properties is refused by some, with the whole request. */
function toTool({ name, description, inputSchema }: ModelTool): object {
  const parameters = { properties: {}, ...inputSchema };
  return { type: 'function', function: { name, description, parameters } };
}

function toCompletion(answer: unknown): Completion {
  const choices = isObject(answer) && Array.isArray(answer['choices']) ? answer['choices'] : [];
  const choice: unknown = choices[0];
  const message = isObject(choice) ? choice['message'] : undefined;
  if (!isObject(choice) || !isObject(message)) {
    throw new ModelFailure(messageIn(answer) ?? 'it is no message', { isUnreadable: true });
  }
  const { content, tool_calls: calls, refusal } = message;
  const toolCalls = Array.isArray(calls) ? calls.flatMap(toToolUse) : [];
  const isRefused = typeof refusal === 'string' && refusal !== '';
  return {
    text: isRefused ? refusal : typeof content === 'string' ? content : '',
    toolCalls,
    stop: isRefused ? 'refused' : toStop(choice['finish_reason'], toolCalls.length),
    usage: toUsage(isObject(answer) ? answer['usage'] : undefined),
    raw: { role: 'assistant', content: content ?? null, ...(calls ? { tool_calls: calls } : {}) },
  };
}

function toToolUse(call: unknown): ToolUse[] {
  const { id, function: used } = isObject(call) ? call : {};
  if (typeof id !== 'string' || !isObject(used) || typeof used['name'] !== 'string') return [];
  const { name, arguments: written } = used;
  const args = readArguments(written);
  return [{ id, name, args: isObject(args) ? args : undefined }];
}

/** A tool that takes nothing is called with nothing by some; some write no text but the object. */
function readArguments(written: unknown): unknown {
  if (written === undefined || written === '') return {};
  return typeof written === 'string' ? parse(written) : written;
}

function toStop(reason: unknown, uses: number): Completion['stop'] {
  if (reason === 'length') return 'limit';
  if (reason === 'content_filter') return 'refused';
  return uses > 0 ? 'tools' : 'done';
}

function toUsage(usage: unknown): Usage {
  if (!isObject(usage)) return NO_USAGE;
  const { prompt_tokens: read, completion_tokens: written } = usage;
  return {
    inputTokens: typeof read === 'number' ? read : 0,
    outputTokens: typeof written === 'number' ? written : 0,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the one who asked says what it means
  }
}

/** What a refusal says, in either of the usual forms. */
function messageIn(value: unknown): string | undefined {
  const error = isObject(value) ? (value['error'] ?? value) : undefined;
  const message = isObject(error) ? error['message'] : error;
  return typeof message === 'string' ? message : undefined;
}

/** fetch says only that it failed; why stands in its cause. */
function describe(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: '' };
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
