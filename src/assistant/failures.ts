// Errors about an assistant's model.
import { SwitchboardError } from '../base/errors.ts';
import { formatDuration } from '../base/text.ts';
import { head } from './cut.ts';
import type { Delegate, ModelFailure, Provider } from './provider.ts';

type Asked = Pick<Provider | Delegate, 'name' | 'keyVariable'>;

export function explainModelFailure(failure: ModelFailure, asked: Asked): SwitchboardError {
  const provider = asked.name;
  const { status, retryAfterMs, isUnreadable, message } = failure;
  const what = status === undefined ? '' : ` (HTTP status ${status})`;
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    `The assistant's provider "${provider}" ${isUnreadable ? 'sent an unreadable response' : describeStatus(status)}${what}: ${message.replace(/\.?$/, '.')}`,
    {
      hint: hintFor(asked, failure),
      cause: failure,
      data: { provider, status, retryAfterMs },
    },
  );
}

export function tooLate(limitMs: number): SwitchboardError {
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    `The assistant was stopped after ${formatDuration(limitMs)} without an answer.`,
    {
      hint: 'Split the request into smaller ones, or raise assistant.timeoutMs (SWITCHBOARD_CONVERSATION_TIMEOUT_MS).',
      data: { timeoutMs: limitMs },
    },
  );
}

export function tooManyRounds(rounds: number): SwitchboardError {
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    `The assistant's model did not reach an answer within ${rounds} ${rounds === 1 ? 'round' : 'rounds'} of tool calls.`,
    {
      hint: 'Split the request into smaller ones, or raise assistant.maxRounds.',
      data: { rounds },
    },
  );
}

export function tooManyTokens(limit: number): SwitchboardError {
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    `The assistant reached the limit of ${limit} tokens per query.`,
    { hint: 'Split the request into smaller ones, or raise assistant.maxTotalTokens.' },
  );
}

export function answerTooLong(limit: number): SwitchboardError {
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    `The assistant's model was cut off at ${limit} tokens, in the middle of a call.`,
    { hint: 'Split the request into smaller ones, or raise assistant.maxTokens.' },
  );
}

export function nothingSaidYet(limit: number): SwitchboardError {
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    `The assistant's model used all ${limit} output tokens without answering.`,
    { hint: 'Raise assistant.maxTokens. Reasoning models need more.' },
  );
}

export function noAnswer(): SwitchboardError {
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    "The assistant's model returned an empty answer.",
    {
      hint: 'Rephrase the query.',
    },
  );
}

export function refused(text: string): SwitchboardError {
  const said = text.trim() === '' ? '' : ` It said: ${head(text.trim(), 1_000)}`;
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    `The assistant's model refused to answer.${said}`,
  );
}

export function notACall(): SwitchboardError {
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    'The assistant\'s model did not return a tool call: no JSON object {"subtool", "args"}.',
    { hint: 'Ask more precisely, choose another model, or set assistant.mode to "loop".' },
  );
}

function describeStatus(status: number | undefined): string {
  if (status === undefined) return 'could not be reached';
  if (status < 400) return 'sent a redirect';
  if (status === 401 || status === 403) return 'rejected the API key';
  if (status === 429) return 'is rate-limiting requests';
  return status >= 500 ? 'failed' : 'refused the request';
}

function hintFor(
  { name, keyVariable }: Asked,
  { status, retryAfterMs, isUnreadable }: ModelFailure,
): string | undefined {
  if (name === 'claude-cli') return 'Try it in a terminal: claude -p hello';
  if (isUnreadable) {
    return 'Check that the base URL speaks the API of assistant.provider.';
  }
  if (status === undefined) return 'Check the base URL and the network.';
  if (status < 400) return 'If you trust the new address, set it as the base URL.';
  if (status === 401 || status === 403) {
    return `Check ${keyVariable ?? 'the API key'} in the host's environment.`;
  }
  if (status === 404) {
    return 'Check the model (SWITCHBOARD_ASSISTANT_MODEL), the base URL and assistant.provider.';
  }
  if (status === 400 || status === 413 || status === 422) {
    return 'If it has too many tools, expose fewer. If the request is too long, lower assistant.maxResultChars.';
  }
  if (retryAfterMs !== undefined && retryAfterMs <= LONGEST_NAMED_MS) {
    return `Try again in ${formatWait(retryAfterMs)}.`;
  }
  return status === 429 || status >= 500 ? 'Try again later.' : undefined;
}

/** Beyond a day, "later" is clearer. */
const LONGEST_NAMED_MS = 86_400_000;

/** In whole seconds, rounded up. */
export function formatWait(ms: number): string {
  return ms === 0 ? 'a moment' : formatDuration(Math.ceil(ms / 1_000) * 1_000);
}
