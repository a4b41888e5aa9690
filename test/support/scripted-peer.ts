// One end of a connection whose other end is the test: it can inspect sent messages and deliver its own.
import { onTestFinished } from 'vitest';
import { Peer, type PeerOptions } from '../../src/rpc/peer.ts';
import { Verbatim } from '../../src/rpc/verbatim.ts';

export interface SentMessage {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Record<string, unknown> & { _meta?: Record<string, unknown> };
  readonly result?: unknown;
  readonly error?: { code: number; message: string };
}

export function createScriptedPeer(options: Partial<PeerOptions> = {}) {
  const sent: SentMessage[] = [];
  /** The other side's request that each message is about. */
  const about: unknown[] = [];
  const peer = new Peer({
    send: (json, message) => {
      sent.push(JSON.parse(json) as SentMessage);
      about.push(message.about);
    },
    onRequest: () => Verbatim.of({}),
    onNotification: () => {},
    onBug: (error) => {
      throw error;
    },
    ...options,
  });
  onTestFinished(() => peer.close(new Error('The test is over.')));
  const receive = (message: object): void => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    peer.receive(new Verbatim(text, JSON.parse(text)));
  };
  /** The last sent request or notification of a method. */
  const last = (method: string): SentMessage => {
    const found = sent.findLast((message) => message.method === method);
    if (!found) throw new Error(`Nothing was sent for ${method}.`);
    return found;
  };
  const answer = (method: string, result: unknown): void =>
    receive({ id: last(method).id, result });
  return { peer, sent, about, receive, last, answer };
}
