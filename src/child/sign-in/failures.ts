// What is said when somebody cannot be signed in, or is not any more. Other people's texts are cut,
// cleaned and masked before they become part of a sentence.
import { SwitchboardError } from '../../base/errors.ts';
import { createMask } from '../../base/secrets.ts';
import { excerpt } from '../../base/text.ts';

export interface FailureDetails {
  readonly hint?: string;
  readonly cause?: unknown;
}

/** A sign-in or its renewal came to nothing. `reason` goes on the sentence, without a full stop. */
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

/** Only a new sign-in helps. */
export function signInNeeded(
  childName: string,
  reason: string,
  { cause }: FailureDetails = {},
): SwitchboardError {
  return new SwitchboardError(
    'CHILD_SIGN_IN',
    `Server "${childName}" wants you to sign in: ${reason}.`,
    { hint: `Run: switchboard login ${childName}`, cause, data: { child: childName } },
  );
}

const LONGEST_QUOTE = 300;

/** Somebody else's text before the full stop of a sentence of ours, without the secrets. */
export function quote(text: string, secrets: Iterable<string> = []): string {
  return excerpt(text, LONGEST_QUOTE, createMask(secrets)).replace(/\.$/, '');
}
