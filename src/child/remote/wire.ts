// The ways in which messages travel to a remote server and back, seen from the link that uses one.
import type { Outgoing } from '../../rpc/message.ts';
import type { LinkEnd } from '../link.ts';

export interface Wire {
  /** Does not throw: what goes wrong is told by the events. */
  send(json: string, message: Outgoing): void;
  pause(): void;
  resume(): void;
  /** Ends it, in a short time, and leaves nothing open. */
  close(): Promise<void>;
}

export interface WireEvents {
  /** A message has come; or several, in an array; or TooComplex for one that exceeds a limit. */
  readonly onMessage: (text: string, value: unknown) => void;
  /** A request gets no answer. Of one that has been answered this is not heard. */
  readonly onFailure: (id: number, error: Error) => void;
  /** It carries nothing any more. Requests that wait fail with `error`, where there is one. */
  readonly onEnd: (end: LinkEnd, error?: Error) => void;
  /** Logs a bug in handling what it carried, and ends the connection. */
  readonly onBug: (error: unknown) => void;
}

/** Resolves after a time that keeps nobody from leaving, or as soon as it is called off. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.min(ms, 2 ** 31 - 1)).unref();
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
