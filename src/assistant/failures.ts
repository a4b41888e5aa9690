// Sentences for what can go wrong with a model.
import { SwitchboardError } from '../base/errors.ts';
import { formatLimit } from '../base/text.ts';
import type { AssistantProvider } from '../config/config.ts';
import type { ModelFailure } from './provider.ts';

export function explainModelFailure(
  failure: ModelFailure,
  provider: AssistantProvider,
): SwitchboardError {
  const { status, retryAfterMs, isUnreadable, message } = failure;
  const what = status === undefined ? '' : ` (HTTP status ${status})`;
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    `The assistant's provider "${provider}" ${isUnreadable ? 'gave an answer that cannot be read' : wordFor(status)}${what}: ${message.replace(/\.?$/, '.')}`,
    {
      hint: hintFor(provider, status, retryAfterMs),
      cause: failure,
      data: { provider, status, retryAfterMs },
    },
  );
}

export function tooLate(limitMs: number): SwitchboardError {
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    `The assistant was not done within ${formatLimit(limitMs)}, and was stopped.`,
    {
      hint: 'Ask for less at once, or raise assistant.timeoutMs (SWITCHBOARD_CONVERSATION_TIMEOUT_MS).',
      data: { timeoutMs: limitMs },
    },
  );
}

export function tooManyRounds(rounds: number): SwitchboardError {
  return new SwitchboardError(
    'ASSISTANT_FAILED',
    `The assistant's model has used tools ${rounds} times and has not come to an answer.`,
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

export function noAnswer(): SwitchboardError {
  return new SwitchboardError('ASSISTANT_FAILED', "The assistant's model has answered nothing.", {
    hint: 'Ask again in other words.',
  });
}

export function refused(text: string): SwitchboardError {
  const said = text.trim() === '' ? '' : ` It says: ${text.trim().slice(0, 1_000)}`;
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
  if (status === 401 || status === 403) return 'does not accept the key';
  if (status === 429) return 'allows no more requests at the moment';
  return status >= 500 ? 'has a failure of its own' : 'refused the request';
}

function hintFor(
  provider: AssistantProvider,
  status: number | undefined,
  retryAfterMs: number | undefined,
): string | undefined {
  if (provider === 'claude-cli') return 'Try it by hand: claude -p hello';
  if (status === 401 || status === 403) {
    return `Check ${provider === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY'} where the host starts Switchboard.`;
  }
  if (status === 404) return 'Check the model (SWITCHBOARD_ASSISTANT_MODEL) and the base URL.';
  if (retryAfterMs !== undefined) {
    return `Try again in ${formatLimit(Math.ceil(retryAfterMs / 1_000) * 1_000)}.`;
  }
  if (status === undefined) return 'Check the base URL, and the network.';
  return status === 429 || status >= 500 ? 'Try again later.' : undefined;
}
