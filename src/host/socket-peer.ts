// JSON-RPC over a local socket, one message per line. Both ends are Switchboard, so anything else closes the
// connection: invalid or oversized messages, and output that isn't read.
import type { Socket } from 'node:net';
import { guard } from '../base/guard.ts';
import { isObject } from '../base/object.ts';
import { DEFAULTS } from '../config/defaults.ts';
import { Framer } from '../rpc/framer.ts';
import { errorText, INVALID_REQUEST, RpcError } from '../rpc/message.ts';
import { Outbox } from '../rpc/outbox.ts';
import { Peer, type PeerOptions } from '../rpc/peer.ts';
import { Verbatim } from '../rpc/verbatim.ts';

export interface SocketPeerOptions extends Pick<PeerOptions, 'onRequest' | 'onBug'> {
  /** The largest message, in bytes. */
  readonly messageBytes: number;
}

/** Unread output beyond this closes the connection. */
const MOST_UNREAD_BYTES = 4 << 20;

export function createSocketPeer(
  socket: Socket,
  { messageBytes, onRequest, onBug }: SocketPeerOptions,
): Peer {
  const fail = (error: unknown): void => {
    onBug(error);
    socket.destroy();
  };
  const outbox = new Outbox(socket, fail);
  const peer = new Peer({
    send: (json) => {
      outbox.send(json, 'newline');
      if (outbox.unreadBytes > MOST_UNREAD_BYTES) socket.destroy();
    },
    onRequest,
    onNotification: () => {}, // there are none
    onBug,
  });
  const tooLong = `A message may have at most ${messageBytes} bytes.`;
  let bytesWithoutMessage = 0;
  const refuse = (reason: string): void => {
    if (socket.writableEnded) return;
    socket.end(`${errorText('null', new RpcError(INVALID_REQUEST, reason))}\n`);
    socket.destroySoon();
  };
  const framer = new Framer({
    limitBytes: messageBytes,
    shape: DEFAULTS.messageShape,
    headers: 'content-length',
    onMessage: ({ text, value }) => {
      bytesWithoutMessage = 0;
      if (socket.writableEnded) return;
      if (isObject(value) && value['jsonrpc'] === '2.0') peer.receive(new Verbatim(text, value));
      else refuse('A message must be an object with "jsonrpc": "2.0".');
    },
    onNoise: () => refuse('Invalid message.'),
    onBroken: () => refuse('Invalid message.'),
    onOversize: ({ limit }) =>
      refuse(limit.name === 'messageBytes' ? tooLong : 'The message is too complex.'),
  });
  const read = (chunk: Buffer): void => {
    bytesWithoutMessage += chunk.length;
    framer.push(chunk);
    if (bytesWithoutMessage > messageBytes) refuse(tooLong);
  };
  const end = (): void => peer.close(new Error('The connection has ended.'));
  socket.on('data', guard(fail, read));
  socket.on(
    'error',
    guard(fail, (error: Error) => peer.close(error)),
  );
  socket.once('close', guard(fail, end));
  return peer;
}
