// A model on loopback that the test controls: each request from the host waits until the test answers
// it, so anything can happen between two turns.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer, Json, ModelApi, Turn } from './api.ts';

export interface OpenTurn extends Turn {
  answer(answer: Answer): void;
}

export interface LoopbackModel {
  /** Without a path. */
  readonly url: string;
  /** The host's next request. */
  next(): Promise<OpenTurn>;
  close(): Promise<void>;
}

export async function startLoopbackModel(api: ModelApi): Promise<LoopbackModel> {
  const turns: OpenTurn[] = [];
  const waiting: ((turn: OpenTurn) => void)[] = [];
  let count = 0;
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      if (body === undefined) return void response.writeHead(404).end();
      const number = ++count;
      const turn = api.read(body, request.url ?? '');
      const answer = (what: Answer): void => api.write(response, what, number);
      if (!turn) return answer({ kind: 'says', text: 'ok' });
      const open = { ...turn, answer };
      const waiter = waiting.shift();
      if (waiter) waiter(open);
      else turns.push(open);
    });
  });
  server.on('upgrade', (_request, socket) => {
    socket.end('HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next: async () => turns.shift() ?? new Promise((resolve) => waiting.push(resolve)),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<Json | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return request.method === 'POST' && text !== '' ? (JSON.parse(text) as Json) : undefined;
}
