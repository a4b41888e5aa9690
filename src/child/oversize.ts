// Handles a message that exceeds a limit. The request it answers fails, if we can tell which one. If the message
// never ends, we give up on the server.
import type { OversizeEvent } from '../rpc/framing.ts';
import { idFromOversize } from '../rpc/oversize.ts';
import type { Peer } from '../rpc/peer.ts';
import type { ExceededLimit } from '../rpc/shape.ts';
import { explainOversize } from './failures.ts';

/** How many times the limit an unidentified line may grow. */
const GIVE_UP_AFTER_LIMITS = 16;
/** If we know which request the line answers, waiting longer is worth it for the other requests. */
const GIVE_UP_ON_KNOWN_AFTER_LIMITS = 64;

/** The server, and how large its messages may be. */
export interface OversizeOptions {
  readonly name: string;
  readonly messageBytes: number;
}

/** Fails the affected request; returns whether to give up on the server. */
export function judgeOversize(
  peer: Peer,
  { limit, bytesSoFar, head, tail, complete }: OversizeEvent,
  { name, messageBytes }: OversizeOptions,
): 'read-on' | 'give-up' {
  const found = idFromOversize(head, tail);
  if (found?.kind === 'response') peer.requests.fail(found.id, explainOversize(name, limit));
  else if (!found && !isNotification(head)) failOnlyRequest(peer, name, limit);
  const patience = found ? GIVE_UP_ON_KNOWN_AFTER_LIMITS : GIVE_UP_AFTER_LIMITS;
  return !complete && bytesSoFar > patience * messageBytes ? 'give-up' : 'read-on';
}

/** If only one request is waiting, anything but a notification must be its answer. */
export function failOnlyRequest(peer: Peer, name: string, limit: ExceededLimit): void {
  const [id, ...others] = peer.requests.ids;
  if (id === undefined || others.length > 0) return;
  peer.requests.fail(id, explainOversize(name, limit));
}

function isNotification(head: string): boolean {
  return /^\s*\{\s*("jsonrpc"\s*:\s*"2.0"\s*,\s*)?"(method|params)"/.test(head);
}
