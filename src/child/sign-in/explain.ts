// What the SDK throws, as sentences. It quotes other people's texts at full length, and those may
// repeat what was sent to them.
import {
  IssuerMismatchError,
  OAuthError,
  RegistrationRejectedError,
} from '@modelcontextprotocol/client';
import { SwitchboardError } from '../../base/errors.ts';
import { quote, signInFailed } from './failures.ts';

export interface Step {
  readonly childName: string;
  /** What is asked for or looked at, as the subject of a sentence. */
  readonly what: string;
  /** What must not be repeated. */
  readonly secrets?: readonly (string | undefined)[];
  readonly hint?: string;
}

/** Does a step of a sign-in; what goes wrong with it is said in a sentence of ours. */
export async function explain<T>(step: Step, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof SwitchboardError) throw error;
    const { childName, hint } = step;
    throw signInFailed(childName, reasonOf(error, step), {
      cause: error,
      ...(hint === undefined ? {} : { hint }),
    });
  }
}

function reasonOf(error: unknown, { what, secrets = [] }: Step): string {
  const known = secrets.filter((secret) => secret !== undefined);
  if (error instanceof OAuthError) {
    const says = error.message === error.code ? '' : `: ${quote(error.message, known)}`;
    return `${what} was refused (${quote(error.code, known)})${says}`;
  }
  if (error instanceof RegistrationRejectedError) {
    return `${what} was refused (HTTP ${error.status}): ${quote(error.body, known)}`;
  }
  if (error instanceof IssuerMismatchError) {
    // In an answer through the browser, what was received is an attacker's text.
    if (error.kind === 'authorization_response') {
      return 'the answer in the browser came from another sign-in service than the one that was asked';
    }
    return `the sign-in service at ${quote(error.expected ?? '')} calls itself ${quote(error.received ?? '')}`;
  }
  return `${what} cannot be used (${quote(problemOf(error), known)})`;
}

/** Of a document with wrong values, their names: the rest is for programmers. */
function problemOf(error: unknown): string {
  const { issues, message } = error as { issues?: unknown; message?: unknown };
  if (!Array.isArray(issues)) return String(message);
  const names = issues.map(({ path }: { path?: readonly unknown[] }) => (path ?? []).join('.'));
  return (
    [...new Set(names)].filter((name) => name !== '').join(', ') ||
    'not the document that was expected'
  );
}
