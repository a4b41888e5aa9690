// Sessions that begin with a handshake: how they begin and end, what a POST may carry, and in which
// form its answer comes.
import { expect, test } from 'vitest';
import { begin, open, openTestHost, rpc, StreamReader, send } from '../../../support/http-host.ts';
import { asAnswer } from '../../../support/outgoing.ts';
import { eventually } from '../../../support/processes.ts';

const note = (method: string, params: object = {}) => ({ jsonrpc: '2.0', method, params });

test('initialize starts a session with its own id, which later requests need', async () => {
  const host = await openTestHost();
  const one = await begin(host);
  const other = await begin(host);
  expect(one['mcp-session-id']).toMatch(/^[\w-]{32}$/);
  expect(one['mcp-session-id']).not.toBe(other['mcp-session-id']);
  const got = await send(host, { headers: other, body: rpc('echo', { a: 1 }, 'x') });
  expect(got.status).toBe(200);
  expect(got.headers['content-type']).toBe('application/json');
  expect(got.messages).toEqual([{ jsonrpc: '2.0', id: 'x', result: { a: 1 } }]);
  expect(host.sessions.map(({ received }) => received.length)).toEqual([1, 2]);
});

test('a message reaches the session as its original text', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  const body =
    '{ "jsonrpc":"2.0",\n "id" : 7, "method":"echo", "params":{"n":1.0,"big":12345678901234567890}}';
  await send(host, { headers, body });
  expect(host.sessions[0]?.texts[1]).toBe(body);
});

test('anything but initialize is refused without a session', async () => {
  const host = await openTestHost();
  for (const body of [rpc('echo'), note('notifications/initialized'), [rpc('echo')]]) {
    expect((await send(host, { body })).status).toBe(400);
    const unknown = { 'mcp-session-id': 'unknown' };
    expect((await send(host, { body, headers: unknown })).status).toBe(404);
  }
  for (const method of ['GET', 'DELETE']) {
    expect((await send(host, { method })).status).toBe(400);
    expect((await send(host, { method, headers: { 'mcp-session-id': 'unknown' } })).status).toBe(
      404,
    );
  }
  expect(host.sessions).toEqual([]);
});

test('a refusal names its request', async () => {
  const { messages } = await send(await openTestHost(), { body: rpc('echo', {}, 'mine') });
  expect(messages).toEqual([
    {
      jsonrpc: '2.0',
      id: 'mine',
      error: {
        code: -32600,
        message: 'Missing header: Mcp-Session-Id. Start a session with initialize.',
      },
    },
  ]);
});

test('a session starts only once', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  expect((await send(host, { headers, body: rpc('initialize') })).status).toBe(400);
  expect(host.sessions).toHaveLength(1);
});

test('a refused handshake creates no session', async () => {
  const host = await openTestHost();
  const error = { code: -32602, message: 'No.' };
  const { status, headers, messages } = await send(host, { body: rpc('initialize', { error }) });
  expect(status).toBe(200);
  expect(messages).toMatchObject([{ id: 1, error }]);
  expect(await eventually(() => host.sessions[0]?.isClosed === true)).toBe(true);
  const id = String(headers['mcp-session-id']);
  const got = await send(host, { headers: { 'mcp-session-id': id }, body: rpc('echo') });
  expect(got.status).toBe(404);
});

test('DELETE ends a session and its running requests', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  const waiting = send(host, { headers, body: rpc('wait') });
  const stream = new StreamReader(await open(host, { method: 'GET', headers }));
  expect(await eventually(() => host.executed().length === 2)).toBe(true);
  expect((await send(host, { method: 'DELETE', headers })).status).toBe(204);
  expect((await waiting).status).toBe(404);
  await stream.closed;
  expect(host.sessions[0]?.isClosed).toBe(true);
  expect((await send(host, { headers, body: rpc('echo') })).status).toBe(404);
  expect((await send(host, { method: 'DELETE', headers })).status).toBe(404);
});

test('notifications and responses are accepted with an empty body', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  for (const body of [
    note('notifications/initialized'),
    { jsonrpc: '2.0', id: 3, result: {} },
    { jsonrpc: '2.0', id: 's-1', error: { code: 1, message: 'no' } },
    { jsonrpc: '2.0', id: null, error: { code: 1, message: 'no' } },
  ]) {
    const { status, text } = await send(host, { headers, body });
    expect({ status, text }).toEqual({ status: 202, text: '' });
  }
  expect(host.executed()).toHaveLength(5);
});

test('an invalid message is refused', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  for (const [body, code] of [
    ['', -32700],
    ['{', -32700],
    ['{"jsonrpc":"2.0"}{}', -32700],
    ['"text"', -32600],
    ['null', -32600],
    ['[]', -32600],
    ['{}', -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"echo"}', -32600],
    ['{"id":1,"method":"echo"}', -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"echo"}', -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"echo"}', -32600],
    ['{"jsonrpc":"2.0","id":[1],"method":"echo"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":7}', -32600],
    ['{"jsonrpc":"2.0","id":1}', -32600],
    ['{"jsonrpc":"2.0","id":1,"Method":"echo"}', -32600],
  ] as const) {
    const { status, messages } = await send(host, { headers, body });
    expect([body, status, messages[0]?.error?.code]).toEqual([body, 400, code]);
  }
  const text = '{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"é"}}';
  const latin = await send(host, { headers, body: Buffer.from(text, 'latin1') });
  expect([latin.status, latin.messages[0]?.error?.code]).toEqual([400, -32700]);
  expect((await send(host, { headers, body: text })).messages[0]?.result).toEqual({ a: 'é' });
  expect(host.executed()).toHaveLength(2);
});

test('a host must accept both response types', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  for (const [accept, status] of [
    [undefined, 406],
    ['application/json', 406],
    ['text/event-stream', 406],
    ['text/html', 406],
    ['application/json, text/event-stream;q=0', 406],
    ['text/event-stream, application/json', 200],
    ['application/json;q=0.9,text/event-stream;q=0.1', 200],
    ['application/*, text/*', 200],
    ['*/*', 200],
  ] as const) {
    const got = await send(host, { headers: { ...headers, accept }, body: rpc('echo') });
    expect([accept, got.status]).toEqual([accept, status]);
  }
  const got = await send(host, { method: 'GET', headers: { ...headers, accept: 'text/html' } });
  expect(got.status).toBe(406);
});

test('an unsupported revision is refused with the supported ones', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  const wrong = { ...headers, 'mcp-protocol-version': '1999-01-01' };
  const { status, messages } = await send(host, { headers: wrong, body: rpc('echo') });
  expect(status).toBe(400);
  expect(messages[0]?.error).toEqual({
    code: -32022,
    message: expect.stringContaining('2025-11-25'),
    data: {
      requested: '1999-01-01',
      supported: [
        '2026-07-28',
        '2025-11-25',
        '2025-06-18',
        '2025-03-26',
        '2024-11-05',
        '2024-10-07',
      ],
    },
  });
  // Older hosts do not say it at all; and one that says it already when it begins is right.
  const unsaid = { ...headers, 'mcp-protocol-version': undefined };
  expect((await send(host, { headers: unsaid, body: rpc('echo') })).status).toBe(200);
  const early = { 'mcp-protocol-version': '2025-11-25' };
  expect((await send(host, { headers: early, body: rpc('initialize') })).status).toBe(200);
});

test('an answer after other messages is a stream, in order', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  const got = await send(host, { headers, body: rpc('progress', { count: 3 }, 'p') });
  expect(got.headers['content-type']).toBe('text/event-stream');
  expect(got.messages.map(({ method, id, params }) => [method, id, params?.['progress']])).toEqual([
    ['notifications/progress', undefined, 1],
    ['notifications/progress', undefined, 2],
    ['notifications/progress', undefined, 3],
    [undefined, 'p', undefined],
  ]);
});

test('a message with line breaks is one event', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  const answer = send(host, { headers, body: rpc('wait', {}, 4) });
  expect(await eventually(() => host.executed().length === 2)).toBe(true);
  const [session] = host.sessions;
  session?.tell('{\r\n"jsonrpc": "2.0",\n"method": "notifications/message"\r}', 4);
  session?.send('{"jsonrpc":"2.0",\n"id":4,\n\n"result":{"a":"\\n"}}', asAnswer(4, {}));
  expect((await answer).messages).toEqual([
    { jsonrpc: '2.0', method: 'notifications/message' },
    { jsonrpc: '2.0', id: 4, result: { a: '\n' } },
  ]);
});

test('answers reach their own POST, in any order', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  const ids = ['1', 1, 2, 'two', 1.5, -3];
  const answers = ids.map((id) => send(host, { headers, body: rpc('wait', {}, id) }));
  expect(await eventually(() => host.executed().length === ids.length + 1)).toBe(true);
  for (const id of ids.toReversed()) host.sessions[0]?.answer(id, { for: id });
  const got = await Promise.all(answers);
  expect(got.map(({ messages }) => messages)).toEqual(
    ids.map((id) => [{ jsonrpc: '2.0', id, result: { for: id } }]),
  );
});

test('an id in use is refused', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  const first = send(host, { headers, body: rpc('wait', {}, 9) });
  expect(await eventually(() => host.executed().length === 2)).toBe(true);
  const second = await send(host, { headers, body: rpc('echo', {}, 9) });
  expect([second.status, second.messages[0]?.id]).toEqual([400, 9]);
  host.sessions[0]?.answer(9, { first: true });
  expect((await first).messages[0]?.result).toEqual({ first: true });
  expect((await send(host, { headers, body: rpc('echo', {}, 9) })).status).toBe(200);
});

test('a second answer to a request is dropped', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  const stream = new StreamReader(await open(host, { method: 'GET', headers }));
  await send(host, { headers, body: rpc('echo', {}, 5) });
  host.sessions[0]?.answer(5, { again: true });
  host.sessions[0]?.tell('{"jsonrpc":"2.0","method":"last"}');
  expect(await eventually(() => stream.messages.length > 0)).toBe(true);
  expect(stream.messages).toEqual([{ jsonrpc: '2.0', method: 'last' }]);
});

test('a second answer does not replace a missing one', async () => {
  const host = await openTestHost();
  const headers = await begin(host, '2025-03-26');
  const batch = send(host, { headers, body: [rpc('wait', {}, 1), rpc('wait', {}, 2)] });
  expect(await eventually(() => host.executed().length === 3)).toBe(true);
  for (const id of [1, 1, 2, 2]) host.sessions[0]?.answer(id);
  expect((await batch).messages.map(({ id }) => id)).toEqual([1, 2]);
});

test('a cancelled request’s POST ends without an answer', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  const waiting = send(host, { headers, body: rpc('wait', {}, 6) });
  expect(await eventually(() => host.executed().length === 2)).toBe(true);
  const cancelled = note('notifications/cancelled', { requestId: 6 });
  expect((await send(host, { headers, body: cancelled })).status).toBe(202);
  const { status, messages } = await waiting;
  expect({ status, messages }).toEqual({ status: 200, messages: [] });
});

test('closing a POST’s connection does not cancel it', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  const cut = open(host, { headers, body: rpc('wait', {}, 8) });
  cut.catch(() => {});
  expect(await eventually(() => host.executed().length === 2)).toBe(true);
  host.sessions[0]?.tell('{"jsonrpc":"2.0","method":"first"}', 8);
  const response = await cut;
  response.destroy();
  await new Promise((resolve) => response.once('close', resolve));
  // It answers others as before, and the id is free once the lost request is done.
  expect((await send(host, { headers, body: rpc('echo', {}, 10) })).status).toBe(200);
  expect(host.sessions[0]?.isClosed).toBe(false);
  expect(host.executed().some(({ method }) => method === 'notifications/cancelled')).toBe(false);
  host.sessions[0]?.answer(8);
  expect((await send(host, { headers, body: rpc('echo', {}, 8) })).status).toBe(200);
});

test('batches exist in one revision only', async () => {
  const host = await openTestHost();
  const batch = [rpc('echo', { n: 1 }, 1), note('notifications/x'), rpc('echo', { n: 2 }, 2)];
  const newer = await begin(host);
  expect((await send(host, { headers: newer, body: batch })).status).toBe(400);

  const headers = await begin(host, '2025-03-26');
  const { status, text } = await send(host, { headers, body: batch });
  expect(status).toBe(200);
  expect(JSON.parse(text)).toEqual([
    { jsonrpc: '2.0', id: 1, result: { n: 1 } },
    { jsonrpc: '2.0', id: 2, result: { n: 2 } },
  ]);
  const streamed = await send(host, {
    headers,
    body: [rpc('echo', {}, 1), rpc('progress', { count: 1 }, 2), rpc('echo', {}, 3)],
  });
  expect(streamed.messages.map(({ id }) => id)).toEqual([1, undefined, 2, 3]);
  expect((await send(host, { headers, body: [note('a'), note('b')] })).status).toBe(202);
  for (const wrong of [
    [rpc('echo', {}, 1), rpc('echo', {}, 1)],
    [rpc('initialize')],
    [rpc('echo'), 7],
    [[rpc('echo')]],
  ]) {
    expect((await send(host, { headers, body: wrong })).status).toBe(400);
  }
  expect(host.sessions[1]?.received).toHaveLength(1 + 3 + 3 + 2);
});

test('an unused session expires; one with an open stream or a running call does not', async () => {
  const host = await openTestHost({ limits: { sessionIdleMs: 3_000 } });
  const [idle, watched, busy] = [await begin(host), await begin(host), await begin(host)];
  const stream = new StreamReader(await open(host, { method: 'GET', headers: watched }));
  const call = send(host, { headers: busy, body: rpc('wait', {}, 1) });
  const isClosed = (index: number) => host.sessions[index]?.isClosed;
  expect(await eventually(() => isClosed(0) === true)).toBe(true);
  expect((await send(host, { headers: idle, body: rpc('echo') })).status).toBe(404);
  // So much later that these would be gone as well.
  await begin(host);
  expect(await eventually(() => isClosed(3) === true)).toBe(true);
  expect([isClosed(1), isClosed(2)]).toEqual([false, false]);
  stream.response.destroy();
  host.sessions[2]?.answer(1);
  expect((await call).status).toBe(200);
  expect(await eventually(() => isClosed(1) === true && isClosed(2) === true)).toBe(true);
});
