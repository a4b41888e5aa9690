// Stops or restarts a server because the user says so, in all sessions that use it.
import { isObject } from '../base/object.ts';
import type { Move } from './lease.ts';
import type { Processes } from './processes.ts';

export interface EndRequest {
  readonly name: string;
  /** Also with calls in flight, which fail. */
  readonly force: boolean;
  /** Whether the sessions that use it start it again right away. Otherwise their next use does. */
  readonly again: boolean;
}

interface EndedServer {
  readonly pid: number | undefined;
  /** How many sessions used it. */
  readonly sessions: number;
}

export interface EndOutcome {
  readonly ended: readonly EndedServer[];
  /** The sessions with calls in flight. If there are any, nothing has been stopped. */
  readonly busy: readonly number[];
}

const NOTHING: EndOutcome = { ended: [], busy: [] };

export async function endServers(
  processes: Processes | undefined,
  { name, force, again }: EndRequest,
): Promise<EndOutcome> {
  const servers = processes?.running(name) ?? [];
  if (servers.length === 0) return NOTHING;
  const busy = [...new Set(servers.flatMap(({ busyUsers }) => busyUsers))];
  if (busy.length > 0 && !force) return { ended: [], busy };
  const ended = servers.map(({ live }) => ({ pid: live?.pid, sessions: live?.sessions ?? 0 }));
  const move: Move = again
    ? { why: 'restarted', message: `The user has restarted server "${name}".` }
    : { why: 'stopped', message: `The user has stopped server "${name}".` };
  await Promise.all(servers.map((server) => server.end(move)));
  return { ended, busy: [] };
}

/** Undefined if it isn't one. */
export function parseEndRequest(params: unknown): EndRequest | undefined {
  if (!isObject(params) || typeof params['name'] !== 'string') return undefined;
  const { name, force, again } = params;
  return { name, force: force === true, again: again === true };
}
