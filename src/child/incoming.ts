import { noteHandled } from '../base/memory.ts';
import type { Peer } from '../rpc/peer.ts';
import type { Verbatim } from '../rpc/verbatim.ts';

export function receiveMessage(peer: Peer, message: Verbatim): void {
  noteHandled(message.maxLength);
  // Some servers wrap their answer in an array, as JSON-RPC once allowed.
  if (Array.isArray(message.value)) for (const one of message.elements()) peer.receive(one);
  else peer.receive(message);
}
