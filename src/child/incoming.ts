import { noteHandled } from '../base/memory.ts';
import type { Peer } from '../rpc/peer.ts';
import { Verbatim } from '../rpc/verbatim.ts';

export function receiveMessage(peer: Peer, text: string, value: unknown): void {
  noteHandled(text);
  const message = new Verbatim(text, value);
  // Some servers wrap their answer in an array, as JSON-RPC once allowed.
  if (Array.isArray(value)) for (const one of message.elements()) peer.receive(one);
  else peer.receive(message);
}
