// What is too large, too slow or too much. A client that goes beyond is told so or cut off, and those
// that do not are served meanwhile.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DEFAULTS } from '../../../../src/config/defaults.ts';
import {
  begin,
  open,
  openTestHost,
  rpc,
  send,
  sendRaw,
  TOKEN,
} from '../../../support/http-host.ts';
import { eventually } from '../../../support/processes.ts';

function startOf(port: number, ...more: string[]): string {
  return [
    'POST /mcp HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${TOKEN}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    ...more,
    '\r\n',
  ].join('\r\n');
}

/** A connection that sends without end, as fast as it is read. */
function flood(
  port: number,
  start: string,
  piece: Buffer,
): { sentBytes: () => number; text: () => string; closed: Promise<void> } {
  const socket = connect(port, '127.0.0.1');
  let bytes = 0;
  let text = '';
  socket.setEncoding('latin1').on('data', (some: string) => {
    text += some;
  });
  socket.on('error', () => {});
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece)) bytes += piece.length;
  };
  socket.on('drain', more);
  socket.once('connect', () => {
    socket.write(start, 'latin1');
    more();
  });
  onTestFinished(() => void socket.destroy());
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return { sentBytes: () => bytes, text: () => text, closed };
}

test('a body with a too large Content-Length is refused before it arrives', async () => {
  const host = await openTestHost({
    messageLimits: { limitBytes: 1_000, shape: DEFAULTS.messageShape },
  });
  const start = startOf(host.port, 'Content-Length: 1000000000');
  const client = flood(host.port, start, Buffer.alloc(65_536, 0x20));
  expect(await eventually(() => client.text().startsWith('HTTP/1.1 413 '))).toBe(true);
  await client.closed; // it was cut off after a while
  expect(host.sessions).toEqual([]);
});

test('a body without a length is refused once it exceeds the limit', async () => {
  const host = await openTestHost({
    messageLimits: { limitBytes: 100_000, shape: DEFAULTS.messageShape },
  });
  const start = startOf(host.port, 'Transfer-Encoding: chunked');
  const client = flood(host.port, start, Buffer.from(`1000\r\n${' '.repeat(4_096)}\r\n`));
  expect(await eventually(() => client.text().startsWith('HTTP/1.1 413 '))).toBe(true);
  await client.closed;
  expect(host.sessions).toEqual([]);
});

test('a body at the limit is accepted', async () => {
  const host = await openTestHost({
    messageLimits: { limitBytes: 200, shape: DEFAULTS.messageShape },
  });
  const body = (bytes: number) => JSON.stringify(rpc('initialize')).padEnd(bytes, ' ');
  expect((await send(host, { body: body(200) })).status).toBe(200);
  const { status, messages } = await send(host, { body: body(201) });
  expect(status).toBe(413);
  expect(messages[0]?.error?.message).toBe(
    'A message may have at most 200 bytes (limits.messageBytes).',
  );
});

test.each([
  [
    'depth',
    '['.repeat(40_000) + ']'.repeat(40_000),
    'A message may nest at most 10 levels deep (limits.depth).',
  ],
  [
    'members',
    `[${'1,'.repeat(40_000)}1]`,
    'A message may have at most 1000 array elements and object members (limits.members).',
  ],
])('a body beyond limits.%s is refused, and names its request', async (_limit, params, message) => {
  const host = await openTestHost({
    messageLimits: { limitBytes: 1 << 20, shape: { depth: 10, members: 1_000 } },
  });
  const headers = await begin(host);
  const request = `{"jsonrpc":"2.0","id":"r","method":"echo","params":${params}}`;
  for (const body of [request, `[${request}]`]) {
    const { status, messages } = await send(host, { headers, body });
    expect(status).toBe(413);
    expect(messages).toMatchObject([{ id: body === request ? 'r' : null, error: { message } }]);
  }
  expect((await send(host, { headers, body: rpc('echo') })).status).toBe(200);
  expect(host.executed().map(({ method }) => method)).toEqual(['initialize', 'echo']);
});

test('a changed limit applies to the next request', async () => {
  const messageLimits = { limitBytes: 200, shape: DEFAULTS.messageShape };
  const host = await openTestHost({ messageLimits });
  const body = JSON.stringify(rpc('initialize')).padEnd(300, ' ');
  expect((await send(host, { body })).status).toBe(413);
  messageLimits.limitBytes = 300;
  expect((await send(host, { body })).status).toBe(200);
});

test('Expect: 100-continue is answered with continue or a refusal', async () => {
  const host = await openTestHost({
    messageLimits: { limitBytes: 1_000, shape: DEFAULTS.messageShape },
  });
  const body = JSON.stringify(rpc('initialize'));
  const expecting = (length: number) =>
    startOf(host.port, 'Expect: 100-continue', `Content-Length: ${length}`, 'Connection: close');
  const text = await sendRaw(host.port, expecting(body.length) + body);
  expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
  const refused = await sendRaw(host.port, expecting(2_000));
  expect(refused).toMatch(/^HTTP\/1\.1 413 /);
});

test('endless headers are refused', async () => {
  const host = await openTestHost();
  const client = flood(host.port, 'POST /mcp HTTP/1.1\r\nX: ', Buffer.alloc(65_536, 0x61));
  await client.closed;
  expect(client.text()).toMatch(/^HTTP\/1\.1 431 /);
  expect(client.sentBytes()).toBeLessThan(16 << 20);
});

test('an unfinished request is cut off in time', async () => {
  const host = await openTestHost({ limits: { headersMs: 200, requestMs: 400 } });
  const slow = ['POST /mcp HTTP/1.1\r\nHost: x\r\n', startOf(host.port, 'Content-Length: 50')];
  const texts = await Promise.all(slow.map((start) => sendRaw(host.port, start)));
  for (const text of texts) expect(text).toMatch(/^(HTTP\/1\.1 408 |$)/);
  expect(host.sessions).toEqual([]);
});

/** Opens connections that send nothing, or only the beginning of a request. */
function openSilent(port: number, count: number) {
  let closed = 0;
  const sockets = Array.from({ length: count }, (_, index) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.once('close', () => {
      closed++;
    });
    socket.resume();
    if (index % 2 === 0) socket.write('POST /mcp HTTP/1.1\r\n');
    return socket;
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { closed: () => closed };
}

test('connections without a request lock no one out: the oldest are closed', async () => {
  const host = await openTestHost({ limits: { connections: 40, headersMs: 60_000 } });
  const headers = await begin(host);
  const stream = await open(host, { method: 'GET', headers });
  const silent = openSilent(host.port, 200);
  expect(await eventually(() => silent.closed() >= 190)).toBe(true);
  await begin(host);
  expect(host.logged).toEqual([
    'more than 10 HTTP connections without an authorized request: closing the oldest.',
  ]);
  expect(stream.destroyed).toBe(false);
});

test('a wrong token and /healthz do not authorize a connection', async () => {
  const host = await openTestHost({ limits: { connections: 4 } });
  const keepsOpen = async (request: string) => {
    const socket = connect(host.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write(request);
    await once(socket, 'data');
    return socket;
  };
  const start = `HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\n`;
  const health = await keepsOpen(`GET /healthz ${start}\r\n`);
  const wrong = await keepsOpen(`POST /mcp ${start}Authorization: Bearer wrong\r\n\r\n`);
  const right = await keepsOpen(`GET /mcp ${start}Authorization: Bearer ${TOKEN}\r\n\r\n`);
  await keepsOpen(`GET /healthz ${start}\r\n`);
  expect(await eventually(() => health.destroyed && wrong.destroyed)).toBe(true);
  expect(right.destroyed).toBe(false);
});

test('headers must arrive within two seconds', async () => {
  const usual = await openTestHost();
  const patient = await openTestHost({ limits: { headersMs: 8_000 } });
  const [one, other] = [openSilent(usual.port, 2), openSilent(patient.port, 2)];
  expect(await eventually(() => one.closed() === 2)).toBe(true);
  expect(other.closed()).toBe(0);
});

test('connections beyond the limit are closed at once', async () => {
  const host = await openTestHost({ limits: { connections: 4 } });
  const streams: IncomingMessage[] = [];
  while (streams.length < 4) {
    const headers = await begin(host);
    streams.push(await open(host, { method: 'GET', headers }));
  }
  await expect(open(host, { body: rpc('initialize') })).rejects.toThrow(
    /socket hang up|ECONNRESET/,
  );
  expect(host.logged).toEqual(['more than 4 HTTP connections: some were refused.']);
  streams[0]?.destroy();
  expect(await eventually(() => streams[0]?.destroyed === true)).toBe(true);
  await vi.waitFor(() => begin(host), { timeout: 60_000 });
});

test('too many requests in one session are refused', async () => {
  const host = await openTestHost();
  const headers = await begin(host, '2025-03-26');
  const batch = (count: number, from: number) =>
    Array.from({ length: count }, (_, index) => rpc('wait', {}, from + index));
  const first = send(host, { headers, body: batch(1_000, 0) });
  expect(await eventually(() => host.executed().length === 1_001)).toBe(true);
  expect((await send(host, { headers, body: rpc('echo', {}, 'one more') })).status).toBe(503);
  for (let id = 0; id < 1_000; id++) host.sessions[0]?.answer(id);
  expect((await first).messages).toHaveLength(1_000);
  expect((await send(host, { headers, body: rpc('echo', {}, 'one more') })).status).toBe(200);
});

test('sessions are limited; the longest idle one makes room', async () => {
  const host = await openTestHost();
  const first = await begin(host);
  const second = await begin(host);
  while (host.sessions.length < 1_000) await begin(host);
  expect((await send(host, { headers: first, body: rpc('echo') })).status).toBe(200);
  await begin(host);
  expect((await send(host, { headers: first, body: rpc('echo') })).status).toBe(200);
  expect((await send(host, { headers: second, body: rpc('echo') })).status).toBe(404);
  expect(host.sessions.filter(({ isClosed }) => isClosed)).toHaveLength(1);
});

test('a port in use is reported in a sentence', async () => {
  const { port } = await openTestHost();
  await expect(openTestHost({ port })).rejects.toMatchObject({
    code: 'LISTEN_FAILED',
    message: `Cannot listen on 127.0.0.1:${port}: the port is already in use.`,
    hint: 'Choose another with --port or --host. --port 0 picks a free port.',
  });
});
