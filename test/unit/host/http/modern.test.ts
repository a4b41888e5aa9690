// Requests without handshake: each stands for itself, says in its headers what its body says, and is
// called off by closing its connection.
import { expect, test } from 'vitest';
import type { Era } from '../../../../src/mcp/eras.ts';
import {
  begin,
  modern,
  open,
  openRequest,
  openTestHost,
  rpc,
  type Sent,
  StreamReader,
  send,
} from '../../../support/http-host.ts';
import { eventually } from '../../../support/processes.ts';

const withHeaders = ({ headers, body }: Sent, more: Record<string, string | undefined>): Sent => ({
  headers: { ...headers, ...more },
  body,
});
const errorOf = async (host: { port: number }, sent: Sent) => {
  const { status, messages } = await send(host, sent);
  return [status, messages[0]?.error?.code];
};

test('each request is its own session, which ends with it', async () => {
  const host = await openTestHost();
  for (const n of [1, 2]) {
    const { status, headers, messages } = await send(host, modern('echo', { n }, 'same'));
    expect(status).toBe(200);
    expect(headers['mcp-session-id']).toBeUndefined();
    expect(headers['content-type']).toBe('application/json');
    expect(messages).toMatchObject([{ id: 'same', result: { n } }]);
  }
  expect(host.sessions.map(({ era, isClosed }) => [era, isClosed])).toEqual([
    ['modern', true],
    ['modern', true],
  ]);
});

test('both eras coexist, and a session id means nothing here', async () => {
  const host = await openTestHost();
  const session = await begin(host);
  const both = withHeaders(modern('echo'), { 'mcp-session-id': session['mcp-session-id'] });
  expect((await send(host, both)).status).toBe(200);
  expect((await send(host, { headers: session, body: rpc('echo') })).status).toBe(200);
  expect(host.sessions.map(({ era, received }) => [era, received.length])).toEqual([
    ['handshake', 2],
    ['modern', 1],
  ]);
});

test('messages before the answer make it a stream, without ids', async () => {
  const { headers, text, messages } = await send(await openTestHost(), modern('progress'));
  expect(headers['content-type']).toBe('text/event-stream');
  expect(messages.map(({ method }) => method)).toEqual([
    'notifications/progress',
    'notifications/progress',
    undefined,
  ]);
  expect(text).not.toMatch(/^id:/m);
});

test('GET, DELETE and notifications have no use', async () => {
  const host = await openTestHost();
  const { headers = {} } = modern('echo');
  for (const method of ['GET', 'DELETE']) {
    const got = await send(host, { method, headers });
    expect([got.status, got.headers.allow]).toEqual([405, 'POST']);
  }
  const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
  const told = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'notifications/cancelled' };
  expect((await send(host, { headers: told, body })).status).toBe(202);
  expect(await errorOf(host, { headers, body: { jsonrpc: '2.0', id: 1, result: {} } })).toEqual([
    400, -32600,
  ]);
  expect(await errorOf(host, { headers, body: [rpc('echo')] })).toEqual([400, -32600]);
  expect(host.sessions).toEqual([]);
});

test('a request must identify its client', async () => {
  const host = await openTestHost();
  const { headers } = modern('echo');
  const version = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
  const capabilities = { 'io.modelcontextprotocol/clientCapabilities': {} };
  for (const params of [
    {},
    { _meta: {} },
    { _meta: version },
    { _meta: capabilities },
    { _meta: { ...capabilities, 'io.modelcontextprotocol/protocolVersion': 7 } },
    { _meta: { ...version, 'io.modelcontextprotocol/clientCapabilities': 'all' } },
    { _meta: 'none' },
  ]) {
    const { status, messages } = await send(host, { headers, body: rpc('echo', params, 'me') });
    expect([status, messages[0]?.id, messages[0]?.error?.code]).toEqual([400, 'me', -32602]);
  }
  expect(host.sessions).toEqual([]);
});

test('an unsupported revision, and one on which header and body disagree', async () => {
  const host = await openTestHost();
  const claiming = (claimed: string): object => {
    const { body } = modern('echo');
    return JSON.parse(JSON.stringify(body).replace('2026-07-28', claimed)) as object;
  };
  const { headers } = modern('echo');
  const future = { ...headers, 'mcp-protocol-version': 'v999.0.0' };
  const { status, messages } = await send(host, { headers: future, body: claiming('v999.0.0') });
  expect(status).toBe(400);
  expect(messages[0]?.error).toMatchObject({
    code: -32022,
    data: { supported: ['2026-07-28'], requested: 'v999.0.0' },
  });
  expect(await errorOf(host, { headers, body: claiming('v999.0.0') })).toEqual([400, -32020]);
  const older = { ...headers, 'mcp-protocol-version': '2025-11-25' };
  expect(await errorOf(host, { headers: older, body: claiming('2026-07-28') })).toEqual([
    400, -32020,
  ]);
  expect(host.sessions).toEqual([]);
});

test('a modern request is refused if only handshakes are offered', async () => {
  const host = await openTestHost({ eras: () => ['handshake'] });
  const { status, messages } = await send(host, modern('server/discover'));
  expect(status).toBe(400);
  expect(messages[0]?.error).toMatchObject({
    code: -32022,
    data: { requested: '2026-07-28', supported: expect.arrayContaining(['2025-11-25']) },
  });
  expect(host.sessions).toEqual([]);
});

test('the offer may change: new hosts get the new era, the others keep theirs', async () => {
  let eras: readonly Era[] = ['handshake', 'modern'];
  const host = await openTestHost({ eras: () => eras });
  const statusOf = async (sent: Sent) => (await send(host, sent)).status;
  expect(await statusOf(modern('server/discover'))).toBe(404); // the session behind does not know it
  const session = await begin(host);

  eras = ['handshake'];
  expect(await errorOf(host, modern('server/discover'))).toEqual([400, -32022]);
  expect(await statusOf(modern('echo'))).toBe(200);
  await begin(host);

  eras = ['modern'];
  expect(
    await errorOf(host, { body: rpc('initialize', { protocolVersion: '2025-11-25' }) }),
  ).toEqual([400, -32022]);
  expect(await statusOf({ headers: session, body: rpc('echo') })).toBe(200);
  expect(await statusOf(modern('server/discover'))).toBe(404);
});

test('headers and body must match', async () => {
  const host = await openTestHost();
  const call = modern('tools/call', { name: 'búsqueda' });
  const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;
  const name = (value: string | undefined) => withHeaders(call, { 'mcp-name': value });
  for (const sent of [
    withHeaders(modern('echo'), { 'mcp-protocol-version': undefined }),
    withHeaders(modern('echo'), { 'mcp-method': undefined }),
    withHeaders(modern('echo'), { 'mcp-method': 'tools/list' }),
    withHeaders(modern('echo'), { 'mcp-method': 'ECHO' }),
    name(undefined),
    name(''),
    name('other'),
    name(base64('other')),
    name(base64('Búsqueda')),
    name(base64('búsqueda').replace('?=', '!?=')),
    name('=?base64?/w==?='), // no UTF-8
    name(base64('bu\u0301squeda')), // the same to the eye
    withHeaders(modern('resources/read', { uri: 'a://b' }), { 'mcp-name': 'a://c' }),
    withHeaders(modern('prompts/get', { name: 'a' }), { 'mcp-name': undefined }),
  ]) {
    expect([sent.headers, await errorOf(host, sent)]).toEqual([sent.headers, [400, -32020]]);
  }
  expect(host.sessions).toEqual([]);

  expect((await send(host, name(base64('búsqueda')))).status).toBe(200);
  expect((await send(host, modern('tools/call', { name: 'plain' }))).status).toBe(200);
  expect((await send(host, withHeaders(modern('echo'), { 'mcp-method': '  echo ' }))).status).toBe(
    200,
  );
});

test('arguments a tool wants repeated must be repeated', async () => {
  const inputSchema = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      limit: { type: 'integer', 'x-mcp-header': 'Limit' },
      deep: { type: 'object', properties: { on: { type: 'boolean', 'x-mcp-header': 'On' } } },
      free: { type: 'string' },
      // No header can be called so.
      odd: { type: 'string', 'x-mcp-header': 'not a name' },
    },
  };
  const host = await openTestHost({
    toolSchema: (name) => (name === 'tool' ? inputSchema : undefined),
  });
  const ask = (args: object, headers: Record<string, string>) =>
    errorOf(host, withHeaders(modern('tools/call', { name: 'tool', arguments: args }), headers));
  const right = { 'mcp-param-region': 'eu', 'mcp-param-limit': '42', 'mcp-param-on': 'true' };
  const args = { region: 'eu', limit: 42, deep: { on: true }, free: 'x', odd: 'y' };
  expect(await ask(args, right)).toEqual([200, undefined]);
  expect(await ask(args, { ...right, 'mcp-param-limit': '42.0' })).toEqual([200, undefined]);
  expect(
    await ask({ ...args, region: 'é' }, { ...right, 'mcp-param-region': '=?base64?w6k=?=' }),
  ).toEqual([200, undefined]);
  expect(await ask({ free: 'x', region: null }, {})).toEqual([200, undefined]);
  for (const wrong of [
    { ...right, 'mcp-param-region': 'us' },
    { ...right, 'mcp-param-limit': '43' },
    { ...right, 'mcp-param-limit': '0x2a' },
    { ...right, 'mcp-param-on': 'false' },
    { 'mcp-param-limit': '42', 'mcp-param-on': 'true' },
  ]) {
    expect(await ask(args, wrong)).toEqual([400, -32020]);
  }
  expect(host.sessions).toHaveLength(4);
});

test('the status reflects an error, unless it came from a server behind us', async () => {
  const host = await openTestHost();
  const fail = (code: number) => errorOf(host, modern('fail', { code, message: 'no' }));
  expect(await errorOf(host, modern('unknown/method'))).toEqual([404, -32601]);
  expect(await errorOf(host, modern('ping'))).toEqual([404, -32601]);
  expect(await fail(-32020)).toEqual([400, -32020]);
  expect(await fail(-32021)).toEqual([400, -32021]);
  expect(await fail(-32022)).toEqual([400, -32022]);
  expect(await fail(-32602)).toEqual([200, -32602]);
  expect(await fail(-32603)).toEqual([200, -32603]);
  const call = (code: number) =>
    errorOf(host, modern('tools/call', { name: 'a', error: { code, message: 'no' } }));
  expect(await call(-32601)).toEqual([200, -32601]);
  expect(await call(-32021)).toEqual([400, -32021]);
  // A result that only mentions an error is none.
  expect((await send(host, modern('echo', { error: { code: -32601 } }))).status).toBe(200);
});

test('initialize with a complete modern envelope is an unknown method', async () => {
  const host = await openTestHost();
  const { status } = await send(host, { ...modern('no-handshake') });
  expect(status).toBe(404);
  await send(host, modern('initialize'));
  expect(host.sessions.map(({ era }) => era)).toEqual(['modern', 'modern']);
});

test('closing the connection cancels the request, before and during its answer', async () => {
  const host = await openTestHost();
  const begun = open(host, modern('wait', {}, 1));
  expect(await eventually(() => host.sessions.length === 1)).toBe(true);
  host.sessions[0]?.tell('{"jsonrpc":"2.0","method":"first"}', 1);
  const response = await begun;
  expect(host.sessions[0]?.isClosed).toBe(false);
  response.destroy();
  expect(await eventually(() => host.sessions[0]?.isClosed === true)).toBe(true);
  // Too late, and nobody is hurt.
  host.sessions[0]?.answer(1);

  const unanswered = openRequest(host, modern('wait', {}, 2));
  expect(await eventually(() => host.sessions.length === 2)).toBe(true);
  unanswered.destroy();
  expect(await eventually(() => host.sessions[1]?.isClosed === true)).toBe(true);
  expect((await send(host, modern('echo'))).status).toBe(200);
});

test('a subscription keeps its stream open until either side ends it', async () => {
  const host = await openTestHost({ limits: { keepAliveMs: 50 } });
  const listening = open(host, modern('subscriptions/listen', {}, 'sub'));
  expect(await eventually(() => host.sessions.length === 1)).toBe(true);
  const [session] = host.sessions;
  session?.tell('{"jsonrpc":"2.0","method":"acknowledged"}', 'sub');
  const stream = new StreamReader(await listening);
  session?.tell('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}', 'sub');
  expect(await eventually(() => stream.messages.length === 2)).toBe(true);
  expect(await eventually(() => stream.text.includes(': keep-alive'))).toBe(true);
  session?.answer('sub');
  await stream.closed;
  expect(stream.messages.map(({ method, id }) => method ?? id)).toEqual([
    'acknowledged',
    'notifications/tools/list_changed',
    'sub',
  ]);
  expect(session?.isClosed).toBe(true);
});

test('closing ends requests in progress', async () => {
  const host = await openTestHost();
  const waiting = send(host, modern('wait'));
  expect(await eventually(() => host.sessions.length === 1)).toBe(true);
  await host[Symbol.asyncDispose]();
  expect((await waiting).status).toBe(503);
  expect(host.sessions[0]?.isClosed).toBe(true);
});
