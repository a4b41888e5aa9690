// Asks servers for their tools on behalf of one agent: so many at most, and one that does not tell is
// an answer, too.
import { SwitchboardError } from '../../base/errors.ts';
import { excerpt } from '../../base/text.ts';
import { isExposed } from '../../config/server/expose.ts';
import { RpcError } from '../../rpc/message.ts';
import type { Candidate } from './candidate.ts';

/** Rejects with a SwitchboardError, or with what the server answered. */
export type ToolsOf = (
  server: Candidate,
  options: { readonly isFresh: boolean },
) => Promise<readonly string[]>;

/** The tools that may be used, or why they are not known. */
export type Answer = { readonly tools: readonly string[] } | Silence;

interface Silence {
  readonly problem: string;
  /** It wants a sign-in. */
  readonly needsSignIn?: boolean;
  /** It was not asked: only what is known already was to be told. */
  readonly isUnasked?: boolean;
}

const LONGEST_PROBLEM = 400;

export async function ask(
  server: Candidate,
  toolsOf: ToolsOf,
  { isFresh = false } = {},
): Promise<Answer> {
  try {
    const tools = await toolsOf(server, { isFresh });
    return { tools: tools.filter((tool) => isExposed(tool, server.expose)) };
  } catch (error) {
    const isForeseen = error instanceof SwitchboardError || error instanceof RpcError;
    if (!isForeseen) throw error;
    if (error instanceof RpcError) return { problem: excerpt(error.message, LONGEST_PROBLEM) };
    const { text, code } = error;
    return {
      problem: excerpt(text, LONGEST_PROBLEM),
      needsSignIn: code === 'CHILD_SIGN_IN',
      isUnasked: code === 'SUBTOOL_UNKNOWN',
    };
  }
}

/** What the first of them answer, by key. The others are not asked. */
export async function askAll(
  servers: Iterable<Candidate>,
  most: number,
  toolsOf: ToolsOf,
  { isFresh = false } = {},
): Promise<{ readonly answers: ReadonlyMap<string, Answer>; readonly notAsked: string[] }> {
  const all = [...new Set(servers)];
  const asked = all.slice(0, most);
  // All of them are waited for, also where they are called off: nothing is left of them then.
  const settled = await Promise.allSettled(
    asked.map((server) => ask(server, toolsOf, { isFresh })),
  );
  const answers = new Map<string, Answer>();
  for (const [index, { key }] of asked.entries()) {
    const outcome = settled[index];
    if (outcome?.status === 'rejected') throw outcome.reason;
    if (outcome) answers.set(key, outcome.value);
  }
  return { answers, notAsked: all.slice(most).map(({ key }) => key) };
}
