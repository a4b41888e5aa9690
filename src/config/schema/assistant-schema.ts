// The schema of `assistant`.
import * as z from 'zod/mini';
import { ASSISTANT_MODES, ASSISTANT_PROVIDERS } from '../config.ts';
import { DEFAULTS } from '../defaults.ts';
import { atLeastOne, idleMilliseconds, key, milliseconds, nonEmpty } from './schema-parts.ts';

export const assistantSchema = z.strictObject({
  mode: key(
    z.enum(ASSISTANT_MODES),
    "`loop`: the model uses the server's tools until it has an answer. `single`: the model picks one call, and its result is the answer.",
    DEFAULTS.assistant.mode,
  ),
  provider: key(
    z.enum(ASSISTANT_PROVIDERS),
    'Model provider. `openai`: any API compatible with chat completions. `claude-cli`: the `claude` program. Default: `openai` if `baseUrl` is set, otherwise the first provider with an API key, otherwise `claude-cli`.',
  ),
  model: key(
    nonEmpty,
    'Model to use. Default: a small model of the provider, or with `claude-cli` the model `claude` is configured for.',
  ),
  baseUrl: key(
    nonEmpty,
    "Base URL of the provider. Default: `ANTHROPIC_BASE_URL` or `OPENAI_BASE_URL`, or else the provider's own URL.",
  ),
  apiKeyEnv: key(
    nonEmpty,
    'Environment variable with the API key. If set, no other variable is used. Default: `ANTHROPIC_API_KEY` (or `CLAUDE_API_KEY`) or `OPENAI_API_KEY`.',
  ),
  role: key(z.string(), 'System prompt: what the assistant is for.'),
  maxRounds: key(
    z.int().check(z.minimum(1), z.maximum(1_000)),
    'Maximum number of rounds of tool use before the model has to answer.',
    DEFAULTS.assistant.maxRounds,
  ),
  timeoutMs: key(
    milliseconds,
    'Time limit for a query, in milliseconds, including all model and tool calls.',
    DEFAULTS.assistant.timeoutMs,
  ),
  maxResultChars: key(
    atLeastOne,
    'Maximum number of characters of a tool result to pass to the model.',
    DEFAULTS.assistant.maxResultChars,
  ),
  maxTokens: key(
    atLeastOne,
    'Maximum number of tokens in one response from the model.',
    DEFAULTS.assistant.maxTokens,
  ),
  maxTotalTokens: key(
    atLeastOne,
    'Maximum number of input and output tokens per query, over all rounds.',
    DEFAULTS.assistant.maxTotalTokens,
  ),
  conversationMs: key(
    idleMilliseconds,
    "How long to remember a conversation after the last query, in milliseconds. 0: don't remember it.",
    DEFAULTS.assistant.conversationMs,
  ),
});
