// Claude, through Anthropic's SDK and the Messages API.
import { randomUUID } from 'node:crypto';
import type { Anthropic, ClientOptions } from '@anthropic-ai/sdk';
import { isObject } from '../../base/object.ts';
import type { Mask } from '../../base/secrets.ts';
import { excerpt } from '../../base/text.ts';
import { LONGEST_MS } from '../../config/defaults.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import { wellFormed } from '../cut.ts';
import {
  type Completion,
  type CompletionRequest,
  type Message,
  ModelFailure,
  type ModelTool,
  type Provider,
  readCount,
  readRetryAfter,
  type Usage,
} from '../provider.ts';
import { abortable } from './abortable.ts';
import {
  type ApiOptions,
  createPost,
  describeRedirect,
  maskFor,
  messageIn,
  type Post,
} from './http.ts';
import { toAcceptedTool } from './tool-schema.ts';

type Content = Anthropic.Messages.ContentBlock[];

interface AnthropicOptions extends ApiOptions {
  /** The assistant has its own address, so settings for the default one don't apply. */
  readonly isElsewhere?: boolean;
}

export async function createAnthropic(options: AnthropicOptions): Promise<Provider> {
  const { default: Client, APIError } = await import('@anthropic-ai/sdk');
  const { apiKey = '', keyVariable, baseUrl, model = '', maxTokens } = options;
  const settings: ClientOptions = {
    apiKey,
    maxRetries: 0, // retry.ts decides about that
    timeout: LONGEST_MS, // the whole query has a limit
    logLevel: 'off', // its log contains people's queries
    openTelemetry: false,
    fetch: fetchThrough(createPost(options.env)),
    ...(baseUrl !== undefined && { baseURL: baseUrl }),
    // The SDK would add those of this process, which may work for others, too.
    defaultHeaders: {
      ...withoutCustomHeaders(process.env),
      ...(options.isElsewhere ? {} : customHeaders(options.env)),
    },
  };
  const client = new Client(settings);
  const mask = maskFor(options);
  return {
    name: 'anthropic',
    model,
    keyVariable,
    complete: ({ system, messages, tools, cancellation }: CompletionRequest) =>
      abortable(cancellation, async (signal) => {
        const body: Anthropic.Messages.MessageCreateParamsNonStreaming = {
          model,
          max_tokens: maxTokens,
          // Each round repeats the previous one; up to these marks it costs a tenth.
          system: [{ type: 'text', text: system, cache_control: KEPT }],
          messages: withMark(messages.map(toMessage)),
          ...(tools.length > 0 && { tools: tools.map(toTool) }),
        };
        try {
          return toCompletion(await client.messages.create(wellFormed(body), { signal }), mask);
        } catch (error) {
          if (error instanceof ModelFailure || signal.aborted) throw error;
          throw error instanceof APIError ? toFailure(error, mask) : explainOther(error, mask);
        }
      }),
  };
}

/** The SDK adds the headers in this variable, mostly meant for a gateway, to every request. */
function withoutCustomHeaders(env: NodeJS.ProcessEnv): Record<string, null> {
  return Object.fromEntries(Object.keys(customHeaders(env)).map((name) => [name, null]));
}

function customHeaders(env: NodeJS.ProcessEnv = {}): Record<string, string> {
  const lines = env['ANTHROPIC_CUSTOM_HEADERS']?.split('\n') ?? [];
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name = '', value = ''] = /^([^:]+):(.*)$/s.exec(line) ?? [];
      return name.trim() === '' ? [] : [[name.trim(), value.trim()]];
    }),
  );
}

/** Answers are JSON, regardless of their content type. */
function fetchThrough(post: Post): typeof fetch {
  return async (address, init) => {
    const target = address instanceof Request ? address.url : address;
    const { status, headers, text } = await post(target, init ?? {});
    headers.set('content-type', 'application/json');
    for (const name of ['content-length', 'content-encoding']) headers.delete(name);
    const hasNoBody = status === 204 || status === 205 || status === 304;
    return new Response(hasNoBody ? null : text, { status, headers });
  };
}

const KEPT = { type: 'ephemeral' } as const;

/** Marks the last message, a query or tool results, for the next round's cache. */
function withMark(messages: Anthropic.Messages.MessageParam[]): typeof messages {
  const last = messages.at(-1);
  if (last?.role !== 'user') return messages;
  const blocks =
    typeof last.content === 'string'
      ? [{ type: 'text' as const, text: last.content }]
      : last.content;
  const block = blocks.at(-1);
  if (block?.type !== 'text' && block?.type !== 'tool_result') return messages;
  const content = [...blocks.slice(0, -1), { ...block, cache_control: KEPT }];
  return [...messages.slice(0, -1), { ...last, content }];
}

function toMessage(message: Message): Anthropic.Messages.MessageParam {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.text };
    case 'assistant':
      return { role: 'assistant', content: message.answer.raw as Content };
    case 'said':
      return { role: 'assistant', content: message.text };
    case 'tools':
      return {
        role: 'user',
        content: message.outcomes.map(({ id, text, isError }) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: text,
          is_error: isError,
        })),
      };
  }
}

/** Argument names the API accepts. */
const KEY = /^[A-Za-z0-9_.-]{1,64}$/;

function toTool(tool: ModelTool): Anthropic.Messages.Tool {
  const { name, description, inputSchema } = toAcceptedTool(tool, (key) => KEY.test(key));
  return { name, description, input_schema: { ...inputSchema, type: 'object' } };
}

function toCompletion(answer: Anthropic.Messages.Message, mask: Mask): Completion {
  // The SDK doesn't check the message.
  if (!isObject(answer) || !Array.isArray(answer.content)) {
    const said = messageIn(answer) ?? 'it is not a message';
    throw new ModelFailure(excerpt(said, 300, mask), { isUnreadable: true });
  }
  const { stop_reason: reason, usage } = answer;
  const content = withOwnIds(answer.content.filter(isComplete));
  const uses = content.filter((block) => block.type === 'tool_use');
  return {
    text: content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'),
    toolCalls: uses.map(({ id, name, input }) => ({
      id,
      name,
      args: isObject(input) ? Verbatim.of(input) : undefined,
    })),
    stop: toStop(reason, uses.length),
    usage: toUsage(usage),
    raw: content.map(withInput),
  };
}

/** Some implementations repeat ids, but a result must match its use. */
function withOwnIds(content: Content): Content {
  const ids = new Set<string>();
  return content.map((block) => {
    if (block.type !== 'tool_use') return block;
    const id = ids.has(block.id) ? `toolu_${randomUUID()}` : block.id;
    ids.add(id);
    return { ...block, id };
  });
}

/** The API refuses input that isn't an object when it is sent back. */
function withInput(block: Content[number]): Content[number] {
  return block.type === 'tool_use' && !isObject(block.input) ? { ...block, input: {} } : block;
}

/** The API refuses incomplete blocks when they are sent back. */
function isComplete(block: Content[number]): boolean {
  if (!isObject(block)) return false;
  if (block.type === 'text') return typeof block.text === 'string' && block.text !== '';
  if (block.type !== 'tool_use') return true;
  return typeof block.id === 'string' && block.id !== '' && typeof block.name === 'string';
}

function toStop(
  reason: Anthropic.Messages.Message['stop_reason'],
  uses: number,
): Completion['stop'] {
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'limit';
  if (reason === 'refusal') return 'refused';
  return uses > 0 ? 'tools' : 'done';
}

/** Includes tokens from the provider's cache. */
function toUsage(usage: Anthropic.Messages.Usage | undefined): Usage {
  const cached =
    readCount(usage?.cache_read_input_tokens) + readCount(usage?.cache_creation_input_tokens);
  return {
    inputTokens: readCount(usage?.input_tokens) + cached,
    outputTokens: readCount(usage?.output_tokens),
  };
}

function toFailure(error: InstanceType<typeof Anthropic.APIError>, mask: Mask): ModelFailure {
  const { status, headers, apiMessage, message, cause } = error;
  const redirect = status === undefined ? undefined : describeRedirect(status, headers);
  const said =
    redirect ?? apiMessage ?? (cause instanceof Error ? `${message} ${cause.message}` : message);
  return new ModelFailure(excerpt(said, 300, mask), {
    ...(status !== undefined && { status }),
    retryAfterMs: readRetryAfter(headers),
  });
}

/** The SDK throws plain errors for invalid JSON and invalid settings. */
function explainOther(error: unknown, mask: Mask): ModelFailure {
  if (error instanceof SyntaxError)
    return new ModelFailure('it is not JSON', { isUnreadable: true });
  return new ModelFailure(excerpt(String(error), 300, mask));
}
