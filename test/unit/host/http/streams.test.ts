// Streams of events: what goes where, what is taken up again after a connection breaks, and what
// becomes of a host that does not read.
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { DEFAULTS } from '../../../../src/config/defaults.ts';
import {
  begin,
  type FakeSession,
  open,
  openRequest,
  openTestHost,
  rpc,
  StreamReader,
  send,
  type TestHost,
} from '../../../support/http-host.ts';
import { eventually } from '../../../support/processes.ts';

const news = (n: number) => `{"jsonrpc":"2.0","method":"news","params":{"n":${n}}}`;
const LARGE_NEWS = JSON.stringify({ method: 'news', params: { pad: 'x'.repeat(8 << 20) } });
const numbers = ({ messages }: StreamReader) => messages.map(({ params }) => params?.['n']);

async function openStream(host: TestHost, headers: Record<string, string>, from?: string) {
  const more = from === undefined ? {} : { 'last-event-id': from };
  const response = await open(host, { method: 'GET', headers: { ...headers, ...more } });
  expect(response.statusCode).toBe(200);
  return new StreamReader(response);
}

function tell({ sessions: [session] }: TestHost, ...ns: number[]): void {
  for (const n of ns) session?.tell(news(n));
}

function sessionOf({ sessions: [session] }: TestHost): FakeSession {
  if (!session) throw new Error('There is no session.');
  return session;
}

test('messages about no request go to the session’s stream, with unique ids', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  const stream = await openStream(host, headers);
  expect(stream.response.headers['content-type']).toBe('text/event-stream');
  tell(host, 1, 2);
  await send(host, { headers, body: rpc('progress') });
  tell(host, 3);
  expect(await eventually(() => stream.events.length === 3)).toBe(true);
  expect(numbers(stream)).toEqual([1, 2, 3]);
  expect(new Set(stream.events.map(({ id }) => id)).size).toBe(3);
});

test('messages without an open stream are queued', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  tell(host, 1, 2);
  const stream = await openStream(host, headers);
  tell(host, 3);
  expect(await eventually(() => stream.events.length === 3)).toBe(true);
  stream.response.destroy();
  // Until the end has been noticed, a second one is one too many.
  const again = await eventuallyOpen(host, headers);
  tell(host, 4);
  expect(await eventually(() => again.events.length === 1)).toBe(true);
  expect(numbers(again)).toEqual([4]);
});

async function eventuallyOpen(host: TestHost, headers: Record<string, string>) {
  for (;;) {
    const response = await open(host, { method: 'GET', headers });
    if (response.statusCode === 200) return new StreamReader(response);
    expect(response.statusCode).toBe(409);
    response.resume();
  }
}

test('the queue is limited: the oldest message is dropped', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  for (let n = 1; n <= 1_500; n++) tell(host, n);
  const stream = await openStream(host, headers);
  tell(host, 0);
  expect(await eventually(() => numbers(stream).at(-1) === 0)).toBe(true);
  expect(numbers(stream)).toHaveLength(1_001);
  expect(numbers(stream)[0]).toBe(501);

  const large = await begin(host);
  const json = (n: number) =>
    JSON.stringify({ method: 'news', params: { n, pad: 'x'.repeat(1 << 20) } });
  for (let n = 1; n <= 10; n++) host.sessions[1]?.tell(json(n));
  const kept = await openStream(host, large);
  host.sessions[1]?.tell(news(0));
  expect(await eventually(() => numbers(kept).at(-1) === 0)).toBe(true);
  expect(numbers(kept)).toEqual([8, 9, 10, 0]);
});

test('there is one stream at a time; a resuming client replaces it', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  const first = await openStream(host, headers);
  tell(host, 1, 2, 3);
  expect(await eventually(() => first.events.length === 3)).toBe(true);
  expect((await send(host, { method: 'GET', headers })).status).toBe(409);
  const second = await openStream(host, headers, first.events[0]?.id);
  await first.closed;
  tell(host, 4);
  expect(await eventually(() => second.events.length === 3)).toBe(true);
  expect(numbers(second)).toEqual([2, 3, 4]);
  expect(second.events[0]?.id).toBe(first.events[1]?.id);
});

test('a POST’s broken stream is resumed until the answer', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  const post = open(host, { headers, body: rpc('wait', {}, 7) });
  expect(await eventually(() => host.executed().length === 2)).toBe(true);
  const session = sessionOf(host);
  session.tell(news(1), 7);
  const broken = new StreamReader(await post);
  expect(await eventually(() => broken.messages.length === 1)).toBe(true);
  const [prime, one] = broken.events;
  expect(prime?.data).toBe(''); // from here on it could have been taken up
  broken.response.destroy();
  await broken.closed;

  session.tell(news(2), 7);
  tell(host, 100); // of another stream
  const again = await openStream(host, headers, one?.id);
  session.tell(news(3), 7);
  session.answer(7, { done: true });
  await again.closed;
  expect(again.messages).toMatchObject([{ params: { n: 2 } }, { params: { n: 3 } }, { id: 7 }]);

  // It is over, and can still be had from the beginning.
  const whole = await openStream(host, headers, prime?.id);
  await whole.closed;
  expect(whole.messages).toMatchObject([
    { params: { n: 1 } },
    { params: { n: 2 } },
    { params: { n: 3 } },
    { id: 7 },
  ]);
});

test('hosts of older revisions get no events without a message', async () => {
  const host = await openTestHost();
  for (const [revision, isPrimed] of [
    ['2025-11-25', true],
    ['2025-06-18', false],
    ['2025-03-26', false],
  ] as const) {
    const headers = await begin(host, revision);
    const response = await open(host, { headers, body: rpc('progress', { count: 1 }) });
    const stream = new StreamReader(response);
    await stream.closed;
    expect([revision, stream.events.some(({ data }) => data === '')]).toEqual([revision, isPrimed]);
    expect(stream.messages).toHaveLength(2);
  }
});

test('an invalid event id is refused', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  for (const id of ['x', '1', '1-2-3', '-1-2', '1-2; x', '9'.repeat(40)]) {
    const got = await send(host, { method: 'GET', headers: { ...headers, 'last-event-id': id } });
    expect([id, got.status]).toEqual([id, 400]);
  }
});

test('a session’s events are not visible to another', async () => {
  const host = await openTestHost();
  const [mine, other] = [await begin(host), await begin(host)];
  tell(host, 1, 2, 3);
  const stream = await openStream(host, other, '0-0');
  host.sessions[1]?.tell(news(9));
  expect(await eventually(() => stream.events.length > 0)).toBe(true);
  expect(numbers(stream)).toEqual([9]);
  const own = await openStream(host, mine, '0-0');
  expect(await eventually(() => own.events.length === 3)).toBe(true);
});

test('an open stream sends keep-alives, and a slow answer becomes a stream', async () => {
  const host = await openTestHost({ limits: { keepAliveMs: 50, slowAnswerMs: 50 } });
  const headers = await begin(host);
  const stream = await openStream(host, headers);
  expect(await eventually(() => stream.text.split(': keep-alive').length > 2)).toBe(true);
  expect(stream.events).toEqual([]);

  const slow = new StreamReader(await open(host, { headers, body: rpc('wait', {}, 3) }));
  expect(slow.response.headers['content-type']).toBe('text/event-stream');
  expect(await eventually(() => slow.text.includes(': keep-alive'))).toBe(true);
  sessionOf(host).answer(3, { late: true });
  await slow.closed;
  expect(slow.messages).toEqual([{ jsonrpc: '2.0', id: 3, result: { late: true } }]);
});

test('without a limit, a slow answer is plain JSON, and a stream only if other messages come first', async () => {
  const host = await openTestHost({ limits: { keepAliveMs: 10, slowAnswerMs: undefined } });
  const headers = await begin(host);
  const own = await openStream(host, headers);
  const slow = open(host, { headers, body: rpc('wait', {}, 3) });
  const chatty = open(host, { headers, body: rpc('wait', {}, 4) });
  // The time in which a slow answer would have become a stream.
  expect(await eventually(() => own.text.split(': keep-alive').length > 5)).toBe(true);
  sessionOf(host).tell(news(1), 4);
  sessionOf(host).answer(3, { late: true });
  sessionOf(host).answer(4);
  expect((await slow).headers['content-type']).toBe('application/json');
  expect((await chatty).headers['content-type']).toBe('text/event-stream');
});

test('a host that does not read its stream loses it, without affecting others', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  const unread = await open(host, { method: 'GET', headers });
  unread.on('error', () => {});
  let isCut = false;
  unread.socket.once('close', () => {
    isCut = true;
  });
  unread.pause();
  const json = JSON.stringify({ method: 'news', params: { pad: 'x'.repeat(1 << 20) } });
  for (let sent = 0; sent < 200 && host.logged.length === 0; sent++) {
    sessionOf(host).tell(json);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(host.logged).toEqual(['an HTTP client left too much unread: its stream was closed.']);
  unread.resume();
  expect(await eventually(() => isCut)).toBe(true);
  expect((await send(host, { headers, body: rpc('echo') })).status).toBe(200);
});

test.each([
  ['events', (host: TestHost) => sessionOf(host).tell(LARGE_NEWS, 5)],
  ['an answer', (host: TestHost) => sessionOf(host).answer(5, { pad: 'x'.repeat(8 << 20) })],
])('only the session whose client leaves %s unread is full', async (_, say) => {
  const host = await openTestHost();
  const headers = await begin(host);
  const other = await begin(host);
  const request = openRequest(host, { headers, body: rpc('wait', {}, 5) });
  const got = new Promise<IncomingMessage>((resolve) => request.once('response', resolve));
  request.once('socket', (socket) => socket.pause());
  expect(await eventually(() => host.executed().length === 3)).toBe(true);
  say(host);
  expect(await eventually(() => sessionOf(host).isFull)).toBe(true);
  expect(host.sessions.map(({ isFull }) => isFull)).toEqual([true, false]);
  expect((await send(host, { headers: other, body: rpc('echo') })).status).toBe(200);

  request.socket?.resume();
  (await got).resume();
  expect(await eventually(() => !sessionOf(host).isFull)).toBe(true);
  expect(host.logged).toEqual([]);
});

test('an answer larger than the unread limit arrives whole', async () => {
  const host = await openTestHost({
    messageLimits: { limitBytes: 32 << 20, shape: DEFAULTS.messageShape },
  });
  const headers = await begin(host);
  const text = 'x'.repeat(12 << 20);
  const plain = await send(host, { headers, body: rpc('echo', { text }) });
  expect(plain.messages[0]?.result?.['text']).toBe(text);
  const post = open(host, { headers, body: rpc('wait', {}, 2) });
  expect(await eventually(() => host.executed().length === 3)).toBe(true);
  sessionOf(host).tell(news(1), 2);
  sessionOf(host).answer(2, { text });
  const stream = new StreamReader(await post);
  await stream.closed;
  expect(stream.messages[1]?.result?.['text']).toBe(text);
});

test('closing: streams end, requests are refused, and nothing listens', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  const stream = await openStream(host, headers);
  const waiting = send(host, { headers, body: rpc('wait') });
  expect(await eventually(() => host.executed().length === 2)).toBe(true);
  await host[Symbol.asyncDispose]();
  await stream.closed;
  expect((await waiting).status).toBe(503);
  expect(sessionOf(host).isClosed).toBe(true);
  await expect(send(host, { headers, body: rpc('echo') })).rejects.toThrow('ECONNREFUSED');
});
