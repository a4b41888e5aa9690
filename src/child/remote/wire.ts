// A transport to a remote server, as `RemoteLink` uses it.
import { LONGEST_MS } from '../../config/defaults.ts';
import type { Outgoing } from '../../rpc/message.ts';
import type { LinkEnd } from '../link.ts';

export interface Wire {
  /** Doesn't throw: failures arrive as events. */
  send(json: string, message: Outgoing): void;
  pause(): void;
  resume(): void;
  /** Closes it within a short time and leaves nothing open. */
  close(): Promise<void>;
}

export interface WireEvents {
  /** A message, an array of them, or TooComplex for one that exceeds a limit. */
  readonly onMessage: (text: string, value: unknown) => void;
  /** A request gets no answer. Ignored if it was already answered. */
  readonly onFailure: (id: number, error: Error) => void;
  /** The wire has ended. Open requests fail with `error`, if given. */
  readonly onEnd: (end: LinkEnd, error?: Error) => void;
  /** Logs a bug in handling a message and ends the connection. */
  readonly onBug: (error: unknown) => void;
}

/** Doesn't keep the process alive. */
export function sleepUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.min(ms, LONGEST_MS)).unref();
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
