// What comes from a server, whichever way it came: handed to the peer, and asked back little.
import { noteHandled } from '../base/memory.ts';
import { METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import type { Peer } from '../rpc/peer.ts';
import { Verbatim } from '../rpc/verbatim.ts';

export function receiveMessage(peer: Peer, text: string, value: unknown): void {
  noteHandled(text);
  const message = new Verbatim(text, value);
  // Some servers wrap their answer in an array, as JSON-RPC once allowed.
  if (Array.isArray(value)) for (const one of message.elements()) peer.receive(one);
  else peer.receive(message);
}

/** What a child may ask of its client: whether it is there, and nothing that needs a host. */
export function answerRequest(method: string): Verbatim {
  if (method === 'ping') return Verbatim.of({});
  throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
}
