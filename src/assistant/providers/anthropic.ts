// Claude, through Anthropic's own SDK and its Messages API.
import type { Anthropic, ClientOptions } from '@anthropic-ai/sdk';
import { createMask, type Mask } from '../../base/secrets.ts';
import { excerpt } from '../../base/text.ts';
import { LONGEST_MS } from '../../config/defaults.ts';
import { isObject } from '../../rpc/message.ts';
import {
  type Completion,
  type CompletionRequest,
  type Message,
  ModelFailure,
  type ModelTool,
  type Provider,
  readRetryAfter,
  type Usage,
} from '../provider.ts';
import { abortable } from './abortable.ts';
import type { ApiOptions } from './openai.ts';

type Content = Anthropic.Messages.ContentBlock[];

export async function createAnthropic(options: ApiOptions): Promise<Provider> {
  const { default: Client, APIError } = await import('@anthropic-ai/sdk');
  const { apiKey = '', baseUrl, model = '', maxTokens } = options;
  const settings: ClientOptions = {
    apiKey,
    maxRetries: 0, // what may be repeated is known in retry.ts
    timeout: LONGEST_MS, // the query as a whole has its limit
    logLevel: 'off', // its log has the requests in it, and what people ask is nobody's business
    openTelemetry: false,
    ...(baseUrl !== undefined && { baseURL: baseUrl }),
  };
  const client = new Client(settings);
  const mask = createMask([apiKey]);
  return {
    name: 'anthropic',
    model,
    complete: ({ system, messages, tools, cancellation }: CompletionRequest) =>
      abortable(cancellation, async (signal) => {
        const body: Anthropic.Messages.MessageCreateParamsNonStreaming = {
          model,
          max_tokens: maxTokens,
          // Each round repeats what was sent before: with this mark it is read for a tenth of the price.
          system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }],
          messages: messages.map(toMessage),
          ...(tools.length > 0 && { tools: tools.map(toTool) }),
        };
        try {
          return toCompletion(await client.messages.create(body, { signal }));
        } catch (error) {
          if (error instanceof ModelFailure || signal.aborted) throw error;
          throw error instanceof APIError ? toFailure(error, mask) : explainOther(error, mask);
        }
      }),
  };
}

function toMessage(message: Message): Anthropic.Messages.MessageParam {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.text };
    case 'assistant':
      return { role: 'assistant', content: message.answer.raw as Content };
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

/** At the top of a schema the API refuses alternatives, with the whole request; the server still checks. */
function toTool({ name, description, inputSchema }: ModelTool): Anthropic.Messages.Tool {
  const { anyOf: _any, oneOf: _one, allOf: _all, ...schema } = inputSchema;
  return { name, description, input_schema: { ...schema, type: 'object' } };
}

function toCompletion(answer: Anthropic.Messages.Message): Completion {
  // What the SDK takes for a message is whatever came.
  if (!isObject(answer) || !Array.isArray(answer.content)) {
    throw new ModelFailure('it is no message', { isUnreadable: true });
  }
  const { content, stop_reason: reason, usage } = answer;
  const uses = content.filter((block) => block.type === 'tool_use');
  return {
    text: content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'),
    toolCalls: uses.map(({ id, name, input }) => ({
      id,
      name,
      args: isObject(input) ? input : undefined,
    })),
    stop: toStop(reason, uses.length),
    usage: toUsage(usage),
    raw: content,
  };
}

function toStop(
  reason: Anthropic.Messages.Message['stop_reason'],
  uses: number,
): Completion['stop'] {
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'limit';
  if (reason === 'refusal') return 'refused';
  return uses > 0 ? 'tools' : 'done';
}

/** What was read from the provider's cache was read, too. */
function toUsage(usage: Anthropic.Messages.Usage | undefined): Usage {
  const cached = (usage?.cache_read_input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0);
  return {
    inputTokens: (usage?.input_tokens ?? 0) + cached,
    outputTokens: usage?.output_tokens ?? 0,
  };
}

function toFailure(error: InstanceType<typeof Anthropic.APIError>, mask: Mask): ModelFailure {
  const { status, headers, apiMessage, message, cause } = error;
  const said = apiMessage ?? (cause instanceof Error ? `${message} ${cause.message}` : message);
  return new ModelFailure(excerpt(said, 300, mask), {
    ...(status !== undefined && { status }),
    retryAfterMs: readRetryAfter(headers),
  });
}

/** The SDK throws plain errors for an answer that is no JSON and for settings that cannot be. */
function explainOther(error: unknown, mask: Mask): ModelFailure {
  if (error instanceof SyntaxError)
    return new ModelFailure('it is no JSON', { isUnreadable: true });
  return new ModelFailure(excerpt(String(error), 300, mask));
}
