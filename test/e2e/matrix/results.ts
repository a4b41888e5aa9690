// Reading what tools of the matrix gave back, and what a host heard meanwhile.
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Project } from '../../support/project.ts';
import type { Host, Message } from './hosts.ts';

type Result = Readonly<Record<string, unknown>>;

/** The text of a result that has just one. */
export function textOf(result: Result): string {
  const [item] = result['content'] as { text: string }[];
  return item?.text ?? '';
}

/** The same, of a tool that gives JSON. */
export function jsonOf(result: Result): unknown {
  return JSON.parse(textOf(result));
}

/** The roots that a server is told where the project is the answer. */
export function rootsOf({ dir }: Project): object {
  return { roots: [{ uri: pathToFileURL(dir).href, name: basename(dir) }] };
}

/** The last refusal that a host heard; news may have come behind it. */
export function lastErrorOf({ received }: Host): Message['error'] {
  return received.findLast(({ error }) => error)?.error;
}

/** What came since there were `from` messages, without news of lists: those may come at any time. */
export function heardSince({ received }: Host, from: number): Message[] {
  return received.slice(from).filter(({ method }) => !method?.endsWith('/list_changed'));
}
