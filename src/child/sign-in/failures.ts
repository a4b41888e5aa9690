// Sign-in errors. Text from other parties is truncated, cleaned and masked before it is quoted.
import { SwitchboardError } from '../../base/errors.ts';
import { createMask } from '../../base/secrets.ts';
import { excerpt } from '../../base/text.ts';

export interface FailureDetails {
  readonly hint?: string;
  readonly cause?: unknown;
}

/** A sign-in or a renewal failed. `reason` ends the sentence, without a full stop. */
export function signInFailed(
  childName: string,
  reason: string,
  { hint, cause }: FailureDetails = {},
): SwitchboardError {
  return new SwitchboardError(
    'SIGN_IN_FAILED',
    `Signing in to server "${childName}" failed: ${reason}.`,
    { hint, cause, data: { child: childName, reason } },
  );
}

/** Only a new sign-in can help. */
export function signInNeeded(
  childName: string,
  reason: string,
  { cause }: FailureDetails = {},
): SwitchboardError {
  return new SwitchboardError(
    'CHILD_SIGN_IN',
    `Server "${childName}" requires you to sign in: ${reason}.`,
    { hint: `Run: switchboard login ${childName}`, cause, data: { child: childName } },
  );
}

const MAX_QUOTE_CHARS = 300;

/** Text from another party, for the end of a sentence. */
export function quote(text: string, secrets: Iterable<string> = []): string {
  return excerpt(text, MAX_QUOTE_CHARS, createMask(secrets)).replace(/\.$/, '');
}
