// How the settings of an assistant may be written.
import * as z from 'zod/mini';
import { ASSISTANT_MODES, ASSISTANT_PROVIDERS } from '../config.ts';
import { DEFAULTS } from '../defaults.ts';
import { atLeastOne, idleMilliseconds, key, milliseconds, text } from './schema-parts.ts';

export const assistantSchema = z.strictObject({
  mode: key(
    z.enum(ASSISTANT_MODES),
    "`loop`: the model uses the server's tools until it has an answer. `single`: it names one call, and the result of that is the answer.",
    DEFAULTS.assistant.mode,
  ),
  provider: key(
    z.enum(ASSISTANT_PROVIDERS),
    'Who runs the model. `openai` is anything that speaks chat completions, `claude-cli` the program `claude`. Unset: with `baseUrl`, `openai`; otherwise the first for which there is a key; without any, `claude-cli`.',
  ),
  model: key(
    text,
    "The model. Unset: a small one of the provider's; with `claude-cli` the one that `claude` is set to.",
  ),
  baseUrl: key(
    text,
    "The address of the provider. Unset: `ANTHROPIC_BASE_URL` or `OPENAI_BASE_URL`, or the provider's own.",
  ),
  apiKeyEnv: key(
    text,
    'The environment variable that holds the key. Where it is set, no other counts. Unset: `ANTHROPIC_API_KEY` (or `CLAUDE_API_KEY`) or `OPENAI_API_KEY`.',
  ),
  role: key(z.string(), 'What the model is told that it is there for.'),
  maxRounds: key(
    z.int().check(z.minimum(1), z.maximum(1_000)),
    'In how many rounds the model may use tools before it has to answer.',
    DEFAULTS.assistant.maxRounds,
  ),
  timeoutMs: key(
    milliseconds,
    'How long one query may take, in milliseconds, with all that the model and the tools do.',
    DEFAULTS.assistant.timeoutMs,
  ),
  maxResultChars: key(
    atLeastOne,
    "The most characters of a tool's result that the model is given.",
    DEFAULTS.assistant.maxResultChars,
  ),
  maxTokens: key(
    atLeastOne,
    'The most tokens of one answer of the model.',
    DEFAULTS.assistant.maxTokens,
  ),
  maxTotalTokens: key(
    atLeastOne,
    'The most tokens that one query may cost, read and written, over all rounds.',
    DEFAULTS.assistant.maxTotalTokens,
  ),
  conversationMs: key(
    idleMilliseconds,
    'How long the assistant remembers a conversation after the last query, in milliseconds. 0: not at all.',
    DEFAULTS.assistant.conversationMs,
  ),
});
