// What becomes of a message that exceeds a limit: the request it answers fails, if we can tell which
// that is, and a child that never ends its message is given up.
import type { OversizeEvent } from '../rpc/framing.ts';
import { idFromOversize } from '../rpc/oversize.ts';
import type { Peer } from '../rpc/peer.ts';
import type { ExceededLimit } from '../rpc/shape.ts';
import { explainOversize } from './failures.ts';

/** A line this many times over the limit that we cannot make out is no longer waited for. */
const GIVE_UP_AFTER_LIMITS = 16;
/** Where the request is known that the line answers, other requests are worth waiting longer. */
const GIVE_UP_ON_KNOWN_AFTER_LIMITS = 64;

/** The server, and how large a message of its may be. */
export interface OversizeOptions {
  readonly name: string;
  readonly messageBytes: number;
}

/** Fails the one request concerned; answers whether the child should be given up. */
export function judgeOversize(
  peer: Peer,
  { limit, bytesSoFar, head, tail, complete }: OversizeEvent,
  { name, messageBytes }: OversizeOptions,
): 'read-on' | 'give-up' {
  const found = idFromOversize(head, tail);
  if (found?.kind === 'response') peer.failRequest(found.id, explainOversize(name, limit));
  else if (!found && !isNotification(head)) failOnlyRequest(peer, name, limit);
  const patience = found ? GIVE_UP_ON_KNOWN_AFTER_LIMITS : GIVE_UP_AFTER_LIMITS;
  return !complete && bytesSoFar > patience * messageBytes ? 'give-up' : 'read-on';
}

/** Where only one request waits, what is no notification can only be its answer. */
export function failOnlyRequest(peer: Peer, name: string, limit: ExceededLimit): void {
  const { waiting } = peer;
  if (waiting.length !== 1) return;
  for (const id of waiting) peer.failRequest(id, explainOversize(name, limit));
}

function isNotification(head: string): boolean {
  return /^\s*\{\s*("jsonrpc"\s*:\s*"2.0"\s*,\s*)?"(method|params)"/.test(head);
}
