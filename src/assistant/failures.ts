// Sentences for what can go wrong with a model.
import { SwitchboardError } from '../base/errors.ts';
import { formatDuration } from '../base/text.ts';
import { head } from './cut.ts';
import type { Delegate, ModelFailure, Provider } from './provider.ts';

/** Who was asked, as far as it is to be named. */
type Asked = Pick<Provider | Delegate, 'name' | 'keyVariable'>;

export function explainModelFailure(failure: ModelFailure, asked: Asked): SwitchboardError {
  const provider = asked.name;
  const { status, retryAfterMs, isUnreadable, message } = failure;
  const what = status === undefined ? '' : ` (HTTP status ${status})`;
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    `The assistant's provider "${provider}" ${isUnreadable ? 'gave an answer that cannot be read' : wordFor(status)}${what}: ${message.replace(/\.?$/, '.')}`,
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
    `The assistant was not done within ${formatDuration(limitMs)}, and was stopped.`,
    {
      hint: 'Ask for less at once, or raise assistant.timeoutMs (SWITCHBOARD_CONVERSATION_TIMEOUT_MS).',
      data: { timeoutMs: limitMs },
    },
  );
}

export function tooManyRounds(rounds: number): SwitchboardError {
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    `The assistant's model has used tools in ${rounds} ${rounds === 1 ? 'round' : 'rounds'} and has not come to an answer.`,
    { hint: 'Ask for less at once, or raise assistant.maxRounds.', data: { rounds } },
  );
}

export function tooManyTokens(limit: number): SwitchboardError {
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    `The assistant has used up the ${limit} tokens that one query may cost.`,
    { hint: 'Ask for less at once, or raise assistant.maxTotalTokens.' },
  );
}

export function answerTooLong(limit: number): SwitchboardError {
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    `The answer of the assistant's model was cut off at ${limit} tokens, in the middle of a call.`,
    { hint: 'Ask for less at once, or raise assistant.maxTokens.' },
  );
}

export function nothingSaidYet(limit: number): SwitchboardError {
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    `The assistant's model has used up the ${limit} tokens of an answer before it said anything.`,
    { hint: 'Raise assistant.maxTokens: models that think first need more.' },
  );
}

export function noAnswer(): SwitchboardError {
  return new SwitchboardError('ASSISTANT_FAILED', "The assistant's model has answered nothing.", {
    hint: 'Ask again in other words.',
  });
}

export function refused(text: string): SwitchboardError {
  const said = text.trim() === '' ? '' : ` It says: ${head(text.trim(), 1_000)}`;
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    `The assistant's model has refused to answer.${said}`,
  );
}

export function notACall(): SwitchboardError {
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    'The assistant\'s model did not answer with a call: no JSON object {"subtool", "args"}.',
    { hint: 'Ask more precisely, choose another model, or set assistant.mode to "loop".' },
  );
}

function wordFor(status: number | undefined): string {
  if (status === undefined) return 'could not be asked';
  if (status < 400) return 'sends us elsewhere';
  if (status === 401 || status === 403) return 'does not accept the key';
  if (status === 429) return 'allows no more requests at the moment';
  return status >= 500 ? 'has a failure of its own' : 'refused the request';
}

function hintFor(
  { name, keyVariable }: Asked,
  { status, retryAfterMs, isUnreadable }: ModelFailure,
): string | undefined {
  if (name === 'claude-cli') return 'Try it by hand: claude -p hello';
  if (isUnreadable) {
    return 'Check the base URL, and that what is there speaks the API of assistant.provider.';
  }
  if (status === undefined) return 'Check the base URL, and the network.';
  if (status < 400) return 'If that is where it is meant to go, set that address as the base URL.';
  if (status === 401 || status === 403) {
    return `Check ${keyVariable ?? 'the key'} where the host starts Switchboard.`;
  }
  if (status === 404) {
    return 'Check the model (SWITCHBOARD_ASSISTANT_MODEL), the base URL and assistant.provider.';
  }
  if (status === 400 || status === 413 || status === 422) {
    return 'If it is about the tools, let it have fewer (expose); if about the length, smaller results (assistant.maxResultChars).';
  }
  if (retryAfterMs !== undefined && retryAfterMs <= LONGEST_NAMED_MS) {
    return `Try again in ${formatWait(retryAfterMs)}.`;
  }
  return status === 429 || status >= 500 ? 'Try again later.' : undefined;
}

/** Nobody waits for longer than a day: that is "later". */
const LONGEST_NAMED_MS = 86_400_000;

/** In whole seconds, rounded up. */
export function formatWait(ms: number): string {
  return ms === 0 ? 'a moment' : formatDuration(Math.ceil(ms / 1_000) * 1_000);
}
