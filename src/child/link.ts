// What a child needs of the connection to its server, whichever way that server is reached: a peer to
// talk through, the one moment it ends, and a way to end it.
import type { Mask } from '../base/secrets.ts';
import type { Peer } from '../rpc/peer.ts';

export interface Link {
  readonly peer: Peer;
  /** The server's process, where it is one of ours. */
  readonly pid: number | undefined;
  readonly ended: Promise<LinkEnd>;
  /** Whether anything has come that could be a message. */
  readonly hasSpoken: boolean;
  /** The last that the server printed beside the protocol, for error messages. */
  readonly lastOutput: string;
  /** Hides what must not be repeated of what the server sends. */
  readonly mask: Mask;
  /** Takes what came last, without an end, for what it is: nothing more will come. */
  endOutput(): void;
  /** Stops reading what the server sends, so that it has to wait; for when nobody takes it. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** How a link ended. */
export type LinkEnd =
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'closed-output' }
  | { readonly kind: 'closed-input' }
  | { readonly kind: 'unread-input'; readonly bytes: number }
  | { readonly kind: 'unreadable'; readonly bytes: number }
  /** A connection over the network is gone; `reason` says why, where there is something to say. */
  | { readonly kind: 'disconnected'; readonly reason: string | undefined }
  /** It carried a message beyond the limit, behind which nothing can be read any more. */
  | { readonly kind: 'oversized' }
  /** A bug in handling what it carried; the log has the details. */
  | { readonly kind: 'failed' };

/** Requests in flight when a link ends fail with this; the child adds what it was doing. */
export class LinkEnded extends Error {
  override readonly name = 'LinkEnded';
  readonly end: LinkEnd;

  constructor(end: LinkEnd) {
    super(`The connection ended: ${end.kind}.`);
    this.end = end;
  }
}
