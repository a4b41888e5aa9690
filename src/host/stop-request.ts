// What `switchboard stop` and `restart` ask a running Switchboard, and its answers.
import { isObject } from '../base/object.ts';
import type { EndOutcome } from '../pool/end-servers.ts';

export interface StopRequest {
  /** Also with open sessions. */
  readonly force: boolean;
  /** Whether a background process is started again right away by the sessions it had. */
  readonly again: boolean;
}

/** A session, for the user. */
export interface SessionName {
  readonly client: string | undefined;
  readonly project: string;
}

export interface Stopped {
  readonly isStopped: boolean;
  /** Those that were cut, or that keep it running. */
  readonly sessions: readonly SessionName[];
}

export interface ServerStopped {
  readonly ended: EndOutcome['ended'];
  /** The sessions with calls in flight. If there are any, nothing has been stopped. */
  readonly busy: readonly SessionName[];
}

export function parseStopRequest(params: unknown): StopRequest {
  const { force, again } = isObject(params) ? params : {};
  return { force: force === true, again: again === true };
}

/** Undefined if it isn't one: another version may answer differently. */
export function parseStopped(value: unknown): Stopped | undefined {
  if (!isObject(value) || typeof value['isStopped'] !== 'boolean') return undefined;
  return { isStopped: value['isStopped'], sessions: parseNames(value['sessions']) };
}

export function parseServerStopped(value: unknown): ServerStopped | undefined {
  if (!isObject(value) || !Array.isArray(value['ended'])) return undefined;
  const ended = value['ended'].filter(isObject).map(({ pid, sessions }) => ({
    pid: typeof pid === 'number' ? pid : undefined,
    sessions: typeof sessions === 'number' ? sessions : 0,
  }));
  return { ended, busy: parseNames(value['busy']) };
}

function parseNames(value: unknown): SessionName[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).map(({ client, project }) => ({
    client: typeof client === 'string' ? client : undefined,
    project: typeof project === 'string' ? project : '',
  }));
}
