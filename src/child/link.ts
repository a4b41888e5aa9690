// The connection to a server, over any transport: a peer to talk through, a single end, and a way to end it.
// `test/contract/link.test.ts` defines the contract for every link.
import type { Mask } from '../base/secrets.ts';
import type { Peer } from '../rpc/peer.ts';

export interface Link {
  readonly peer: Peer;
  /** The server's process, if we started one. */
  readonly pid: number | undefined;
  readonly ended: Promise<LinkEnd>;
  /** Whether anything has arrived that could be a message. */
  readonly hasSpoken: boolean;
  /** The last lines the server printed outside the protocol, for error messages. */
  readonly lastOutput: string;
  /** Masks secrets in text from the server. */
  readonly mask: Mask;
  /** The values it masks. */
  readonly secrets: readonly string[];
  /** Also masks these values, which a call is about to send. */
  hide(values: readonly string[]): void;
  /** Reads an incomplete last line as is, because nothing more will arrive. */
  endOutput(): void;
  /** Stops reading, so that the server has to wait until a host catches up. */
  pause(): void;
  resume(): void;
  stop(why?: StopReason): Promise<void>;
  /** Whether a session that shares the server holds up its output. */
  readonly isHeld?: boolean;
  /** How many sessions use the server; undefined if it can't be shared. */
  readonly sessions?: number;
  /** Variables whose values keep other sessions from sharing it. */
  readonly apart?: readonly string[];
}

/** Why a link is stopped, if that matters: it was idle, or the session has to use another process. */
export type StopReason = 'idle' | 'moved';

/** How a link ended. */
export type LinkEnd =
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'closed-output' }
  | { readonly kind: 'closed-input' }
  | { readonly kind: 'unread-input'; readonly bytes: number }
  | { readonly kind: 'unreadable'; readonly bytes: number }
  /** A network connection is gone; `reason` says why, if known. */
  | { readonly kind: 'disconnected'; readonly reason: string | undefined }
  /** A message beyond the limit arrived, and nothing after it can be read. */
  | { readonly kind: 'oversized' }
  /** This session no longer uses the server; others do. */
  | { readonly kind: 'released' }
  /** A bug in our code while handling a message; the log has the details. */
  | { readonly kind: 'failed' };

/** Requests in flight fail with this when a link ends; `Child` adds what it was doing. */
export class LinkEnded extends Error {
  override readonly name = 'LinkEnded';
  readonly end: LinkEnd;

  constructor(end: LinkEnd) {
    super(`The connection ended: ${end.kind}.`);
    this.end = end;
  }
}
