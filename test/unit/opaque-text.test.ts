// A transport gets what a message is along with its text, and never reads the text: here it isn't even JSON.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { OlderSseWire } from '../../src/child/remote/older-sse.ts';
import { Sender } from '../../src/child/remote/sender.ts';
import { type RemoteServer, Secrets } from '../../src/child/remote/server.ts';
import { StreamableWire } from '../../src/child/remote/streamable.ts';
import type { Wire, WireEvents } from '../../src/child/remote/wire.ts';
import { DEFAULTS } from '../../src/config/defaults.ts';
import type { OpenSession } from '../../src/host/http/exchange.ts';
import type { Id, Outgoing } from '../../src/rpc/message.ts';
import { modern, open, openTestHost, rpc, type Sent } from '../support/http-host.ts';
import { asAnswer, asNotification, asRequest } from '../support/outgoing.ts';
import { until } from '../support/remote-child.ts';

const TEXT = 'no "JSON" at all';
const RESULT = (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":{}}`;

interface Post {
  readonly text: string;
  readonly headers: IncomingMessage['headers'];
  readonly reply: ServerResponse;
}

/** A server that keeps each POST for the test to answer. */
async function startServer() {
  const posts: Post[] = [];
  const server = createServer((request, reply) => {
    reply.on('error', () => {});
    if (request.method === 'GET') {
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      reply.write('event: endpoint\ndata: /mcp\n\n');
      return;
    }
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    request.on('end', () => posts.push({ text, headers: request.headers, reply }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const nth = async (n: number): Promise<Post> => {
    await until(() => posts.length > n);
    return posts[n] as Post;
  };
  return { url: new URL(`http://127.0.0.1:${port}/mcp`), posts, nth };
}

const SERVER: RemoteServer = {
  name: 'far',
  origin: '/project/switchboard.config.json',
  place: 'http://127.0.0.1',
  hasAuthorization: false,
  canSignIn: false,
  messageBytes: 1 << 20,
  messageShape: DEFAULTS.messageShape,
  secrets: new Secrets([]),
};

function openWire(url: URL, create: typeof StreamableWire | typeof OlderSseWire) {
  const received: string[] = [];
  const failures: unknown[] = [];
  const events: WireEvents = {
    onMessage: (text) => received.push(text),
    onFailure: (id) => failures.push(id),
    onEnd: (end) => failures.push(end),
    onBug: (error) => failures.push(error),
  };
  const sender = new Sender({ server: SERVER, headers: {}, credentials: undefined });
  const onOlder = (): void => void failures.push('older');
  const wire: Wire = new create({
    server: SERVER,
    url,
    sender,
    handshakeMs: 5_000,
    onOlder,
    ...events,
  });
  onTestFinished(() => wire.close());
  return { wire, received, failures };
}

test('over Streamable HTTP, headers and answers depend on the message’s description', async () => {
  const { url, posts, nth } = await startServer();
  const { wire, received, failures } = openWire(url, StreamableWire);

  wire.send(TEXT, asRequest(7, 'tools/call', { name: 'read', arguments: {} }));
  const call = await nth(0);
  expect(call.text).toBe(TEXT);
  expect(call.headers).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': 'read' });
  call.reply.setHeader('content-type', 'application/json').end(RESULT(7));
  await until(() => received.length > 0);

  wire.send(TEXT, asRequest(8, 'tools/call'));
  const { reply, headers } = await nth(1);
  expect(headers).not.toHaveProperty('mcp-method');
  const cut = once(reply, 'close');
  wire.send(TEXT, asNotification('notifications/cancelled', { cancels: 8 }));
  await cut;
  expect(await nth(2)).toMatchObject({ text: TEXT });
  expect([received, posts.length]).toEqual([[RESULT(7)], 3]);
  expect(failures).toEqual([7]); // once it is answered nobody listens to that
});

test('over HTTP+SSE, a cancelled request ends by its id', async () => {
  const { url, nth } = await startServer();
  const { wire, failures } = openWire(url, OlderSseWire);

  wire.send(TEXT, asRequest(7, 'tools/call'));
  const { text, reply } = await nth(0);
  const cut = once(reply, 'close');
  wire.send(TEXT, asNotification('notifications/cancelled', { cancels: 7 }));
  await cut;
  expect(text).toBe(TEXT);
  expect(failures).toEqual([]);
});

/** Answers each request with the same text, and says what it is supposed to be. */
function answering(answerTo: (method: string, id: Id) => Outgoing): OpenSession {
  return ({ send }) => ({
    receive({ value }) {
      const { id, method } = value as { id: Id; method: string };
      send(TEXT, answerTo(method, id));
    },
    setFull() {},
    close() {},
  });
}

async function textOf(host: { port: number }, sent: Sent) {
  const response = await open(host, sent);
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece as string;
  return { status: response.statusCode, headers: response.headers, text };
}

test("a modern response's status depends on the error code", async () => {
  const codes: Record<string, number> = { lost: -32601, incapable: -32021, other: -32603 };
  const openSession = answering((method, id) =>
    asAnswer(id, { error: { code: codes[method] ?? 0, message: '' } }),
  );
  const host = await openTestHost({ openSession });
  for (const [method, status] of Object.entries({ lost: 404, incapable: 400, other: 200 })) {
    expect(await textOf(host, modern(method))).toMatchObject({ status, text: TEXT });
  }
});

test("a session's revision depends on its handshake's result", async () => {
  const result = { protocolVersion: '2025-03-26' };
  const host = await openTestHost({ openSession: answering((_, id) => asAnswer(id, { result })) });
  const { headers, text } = await textOf(host, { body: rpc('initialize') });
  expect(text).toBe(TEXT);
  const session = { 'mcp-session-id': String(headers['mcp-session-id']) };
  const batch = await textOf(host, { headers: session, body: [rpc('a', {}, 2), rpc('b', {}, 3)] });
  expect(batch).toMatchObject({ status: 200, text: `[${TEXT},${TEXT}]` }); // only that one has batches
});
