// Turns the SDK's errors into sentences. The SDK quotes responses in full, and they may repeat what was
// sent.
import {
  IssuerMismatchError,
  OAuthError,
  RegistrationRejectedError,
} from '@modelcontextprotocol/client';
import { SwitchboardError } from '../../base/errors.ts';
import { quote, signInFailed } from './failures.ts';

export interface Step {
  readonly childName: string;
  /** The subject of the sentence. */
  readonly what: string;
  /** Masked in the message. */
  readonly secrets?: readonly (string | undefined)[];
  readonly hint?: string;
}

/** Runs a step of a sign-in and explains its failure. */
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
    // Anything that came through the browser may be an attacker's text.
    if (error.kind === 'authorization_response') {
      return 'the authorization response came from a different authorization server';
    }
    return `the authorization server at ${quote(error.expected ?? '')} calls itself ${quote(error.received ?? '')}`;
  }
  return `${what} cannot be used (${quote(problemOf(error), known)})`;
}

/** For a document with invalid values, their names. */
function problemOf(error: unknown): string {
  const { issues, message } = error as { issues?: unknown; message?: unknown };
  if (!Array.isArray(issues)) return String(message);
  const names = issues.map(({ path }: { path?: readonly unknown[] }) => (path ?? []).join('.'));
  return (
    [...new Set(names)].filter((name) => name !== '').join(', ') || 'not the expected document'
  );
}
