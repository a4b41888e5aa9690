// Messages of remote servers that nest too deep or have too many members: the request they answer fails,
// and nothing else does.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import type { SwitchboardError } from '../../../../src/base/errors.ts';
import {
  beginEvents,
  event,
  OddServer,
  result,
  sendJson,
} from '../../../support/odd-http-server.ts';
import { callText, failureOf, startRemote, until } from '../../../support/remote-child.ts';

const GREETING =
  '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}';
const DONE = '{"content":[]}';
const config = { messageShape: { depth: 100, members: 50_000 } };
const DEEP = '['.repeat(50_000) + ']'.repeat(50_000);
const WIDE = `[${'1,'.repeat(60_000)}1]`;
const NOTE = `{"jsonrpc":"2.0","method":"notifications/unheard-of","params":${DEEP}}`;

const FAILURES = {
  deep: 'Server "far" sent a message nested more than 100 levels deep. Request less data at once, or raise limits.depth in the configuration.',
  wide: 'Server "far" sent a message with more than 50000 array elements and object members. Request less data at once, or raise limits.members in the configuration.',
  last: 'Server "far" sent a message nested more than 100 levels deep. Request less data at once, or raise limits.depth in the configuration.',
};

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
}

/** The text of the answer to a message; undefined if it has none. */
function answerTo({ id, method, params }: Message): string | undefined {
  if (id === undefined) return undefined;
  if (method === 'initialize') return result(id, GREETING);
  switch (params?.['name']) {
    case 'deep':
      return result(id, DEEP);
    case 'wide':
      return result(id, WIDE);
    case 'last':
      return `{"result":${DEEP},"id":${JSON.stringify(JSON.stringify(id))}}`; // some return a string
    default:
      return result(id, DONE);
  }
}

async function startJson(): Promise<string> {
  const server = await OddServer.start({
    onRequest: ({ message }, reply) => sendJson(reply, answerTo(message) ?? ''),
  });
  return server.url;
}

/** Answers with a stream that it does not end, in which a notification comes first. */
async function startStreams(): Promise<string> {
  const server = await OddServer.start({
    onRequest: ({ message }, reply) =>
      beginEvents(reply).write(event(NOTE) + event(answerTo(message) ?? '')),
  });
  return server.url;
}

async function startOlder(): Promise<string> {
  let stream: ReturnType<typeof beginEvents> | undefined;
  const server = await OddServer.start({
    before: ({ httpMethod, message }, reply) => {
      if (httpMethod === 'GET') {
        stream = beginEvents(reply);
        stream.write('event: endpoint\ndata: /messages\n\n');
        return true;
      }
      reply.writeHead(202).end();
      const answer = answerTo(message);
      if (answer !== undefined) stream?.write(event(NOTE) + event(answer));
      return true;
    },
  });
  return server.url;
}

async function startSockets(): Promise<string> {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http });
  sockets.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      const answer = answerTo(JSON.parse(data.toString()) as Message);
      if (answer === undefined) return;
      socket.send(NOTE);
      socket.send(answer);
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    http.close();
  });
  return `ws://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

describe.each([
  ['JSON', 'http', startJson],
  ['a stream', 'http', startStreams],
  ['the older transport', 'sse', startOlder],
  ['WebSocket', 'ws', startSockets],
] as const)('over %s', (_name, type, start) => {
  test('fails only the request that such a message answers', async () => {
    const { child } = await startRemote(await start(), { type, config });
    const calls = [
      callText(child, 'any'),
      ...Object.keys(FAILURES).map(async (tool) => {
        const error = (await failureOf(callText(child, tool))) as SwitchboardError;
        expect(error.code).toBe('MESSAGE_TOO_LARGE');
        return error.text;
      }),
      callText(child, 'any'),
    ];
    expect(await Promise.all(calls)).toEqual([DONE, ...Object.values(FAILURES), DONE]);
    expect(await callText(child, 'any')).toBe(DONE);
  });
});

test("is ignored on a server's own stream", async () => {
  const server = await OddServer.start({
    onGet: (_, reply) =>
      beginEvents(reply).write(event(NOTE) + event('{"jsonrpc":"2.0","method":"next"}')),
  });
  const { child, notifications } = await startRemote(server.url, { config });
  await until(() => notifications.length > 0);
  expect(notifications).toMatchObject([{ method: 'next' }]);
  expect(await callText(child, 'any')).toContain('done');
});

test('such a refusal is quoted, not parsed', async () => {
  const server = await OddServer.start({
    onRequest: ({ message }, reply) =>
      sendJson(
        reply,
        `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"error":{"code":1,"message":"no","data":${DEEP}}}`,
        500,
      ),
  });
  const { child } = await startRemote(server.url, { config });
  const error = await failureOf(callText(child, 'any'));
  expect(error.message).toMatch(/^Server "far" responded with HTTP 500: \{"jsonrpc"/);
});
