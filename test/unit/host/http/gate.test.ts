// Requests that a web page, another program or a mistake could send. None of them gets anything done,
// and each is told why in the status that belongs to it.
import { expect, test } from 'vitest';
import {
  begin,
  openTestHost,
  rpc,
  type Sent,
  send,
  sendRaw,
  TOKEN,
} from '../../../support/http-host.ts';

const CALL = rpc('tools/call', { name: 'delete_everything' });
const EVIL = 'http://evil.example';

/** What is wrong, the request, the status. `PORT` stands for the port, `SESSION` for a session. */
const FOREIGN: [why: string, sent: Sent, status: number][] = [
  ['no token', { headers: { authorization: undefined } }, 401],
  ['an empty token', { headers: { authorization: 'Bearer ' } }, 401],
  ['a wrong token', { headers: { authorization: 'Bearer wrong' } }, 401],
  [
    'the beginning of the token',
    { headers: { authorization: `Bearer ${TOKEN.slice(0, -1)}` } },
    401,
  ],
  ['the token and more', { headers: { authorization: `Bearer ${TOKEN}x` } }, 401],
  ['the token in capitals', { headers: { authorization: `Bearer ${TOKEN.toUpperCase()}` } }, 401],
  ['the token without its scheme', { headers: { authorization: TOKEN } }, 401],
  ['another scheme', { headers: { authorization: `Basic ${TOKEN}` } }, 401],
  [
    'the token in the address',
    { path: `/mcp?token=${TOKEN}`, headers: { authorization: undefined } },
    401,
  ],
  [
    'the token in a cookie',
    { headers: { authorization: undefined, cookie: `token=${TOKEN}` } },
    401,
  ],
  [
    'no token, at a path that is not there',
    { path: '/admin', headers: { authorization: undefined } },
    401,
  ],
  [
    'no token, with a method that is not known',
    { method: 'OPTIONS', headers: { authorization: undefined } },
    401,
  ],
  ['no token, for a stream', { method: 'GET', headers: { authorization: undefined } }, 401],
  [
    'no token, to end a session',
    { method: 'DELETE', headers: { authorization: undefined, 'mcp-session-id': 'SESSION' } },
    401,
  ],
  [
    'no token, beside the path for health',
    { path: '/healthz/../mcp', headers: { authorization: undefined } },
    401,
  ],
  ['another host', { headers: { host: 'evil.example' } }, 421],
  ['another host with our port', { headers: { host: 'evil.example:PORT' } }, 421],
  ['a host that begins like ours', { headers: { host: 'localhost.evil.example:PORT' } }, 421],
  ['a host that ends like ours', { headers: { host: 'evil-localhost:PORT' } }, 421],
  ['our host with another port', { headers: { host: '127.0.0.1:1' } }, 421],
  ['our host without a port', { headers: { host: 'localhost' } }, 421],
  ['our host behind a user name', { headers: { host: 'evil@127.0.0.1:PORT' } }, 421],
  ['an address of the network', { headers: { host: '192.168.0.1:PORT' } }, 421],
  ['all addresses', { headers: { host: '0.0.0.0:PORT' } }, 421],
  ['another origin', { headers: { origin: EVIL } }, 403],
  ['another origin with our port', { headers: { origin: `${EVIL}:PORT` } }, 403],
  ['no origin to speak of', { headers: { origin: 'null' } }, 403],
  ['an empty origin', { headers: { origin: '' } }, 403],
  ['our host on another port as origin', { headers: { origin: 'http://localhost:1' } }, 403],
  ['a file as origin', { headers: { origin: 'file://' } }, 403],
  ['an extension as origin', { headers: { origin: 'chrome-extension://abcdef' } }, 403],
  ['a page of another site, without origin', { headers: { 'sec-fetch-site': 'cross-site' } }, 403],
  ['a page of a neighbouring site', { headers: { 'sec-fetch-site': 'same-site' } }, 403],
  ['a form', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 415],
  ['a form with files', { headers: { 'content-type': 'multipart/form-data; boundary=x' } }, 415],
  ['plain text', { headers: { 'content-type': 'text/plain' } }, 415],
  [
    'plain text that mentions JSON',
    { headers: { 'content-type': 'text/plain; application/json' } },
    415,
  ],
  ['something like JSON', { headers: { 'content-type': 'application/json-seq' } }, 415],
  ['the wrong kind of JSON', { headers: { 'content-type': 'text/json' } }, 415],
  ['no type', { headers: { 'content-type': undefined } }, 415],
  [
    'JSON of another encoding',
    { headers: { 'content-type': 'application/json; charset=utf-16' } },
    415,
  ],
  ['a compressed body', { headers: { 'content-encoding': 'gzip' } }, 415],
  [
    'a GET with a body',
    { method: 'GET', headers: { 'mcp-session-id': 'SESSION' }, body: '{}' },
    400,
  ],
  ['PUT', { method: 'PUT' }, 405],
  ['PATCH', { method: 'PATCH' }, 405],
  ['OPTIONS, as before a request from a page', { method: 'OPTIONS' }, 405],
  ['another path', { path: '/' }, 404],
  ['a path that goes up', { path: '/x/../mcp' }, 404],
  ['a path with an encoded letter', { path: '/%6dcp' }, 404],
  ['a path in capitals', { path: '/MCP' }, 404],
  ['a path that goes on', { path: '/mcp/x' }, 404],
  ['a whole address as path', { path: `${EVIL}/mcp` }, 404],
  ['a POST to the path for health', { path: '/healthz' }, 405],
];

test.each(FOREIGN)('%s: refused, and nothing is run', async (_why, sent, status) => {
  const host = await openTestHost();
  const session = await begin(host);
  const [{ received } = { received: [] }] = host.sessions;
  const before = received.length;
  const fill = (text: string) =>
    text.replace('PORT', String(host.port)).replace('SESSION', session['mcp-session-id'] ?? '');
  const headers = Object.fromEntries(
    Object.entries(sent.headers ?? {}).map(([name, value]) => [
      name,
      typeof value === 'string' ? fill(value) : value,
    ]),
  );
  const got = await send(host, { body: CALL, ...sent, headers: { ...session, ...headers } });
  expect(got.status).toBe(status);
  expect(received).toHaveLength(before);
  expect(host.sessions).toHaveLength(1);
  expect(host.sessions[0]?.isClosed).toBe(false);
  expect(Object.keys(got.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  expect(got.text).not.toContain(TOKEN);
});

test('the same valid call is run', async () => {
  const host = await openTestHost();
  const headers = await begin(host);
  for (const [name, value] of [
    ['host', `localhost:${host.port}`],
    ['host', `LOCALHOST:${host.port}`],
    ['host', `[::1]:${host.port}`],
    ['origin', `http://localhost:${host.port}`],
    ['origin', `http://127.0.0.1:${host.port}`],
    ['authorization', `bearer ${TOKEN}`],
    ['content-type', 'application/json; charset=UTF-8'],
    ['sec-fetch-site', 'same-origin'],
  ] as const) {
    const got = await send(host, { body: CALL, headers: { ...headers, [name]: value } });
    expect([name, value, got.status]).toEqual([name, value, 200]);
  }
  expect(host.executed()).toHaveLength(9);
});

test('a missing token is answered with instructions', async () => {
  const { status, headers, messages } = await send(await openTestHost(), {
    headers: { authorization: undefined },
  });
  expect(status).toBe(401);
  expect(headers['www-authenticate']).toMatch(/^Bearer\b/);
  expect(messages[0]?.error?.message).toMatchInlineSnapshot(
    `"Missing or wrong token. Send the header "Authorization: Bearer <token>"."`,
  );
});

test.each(['/', '/mcp/', '/sse'])('at %s the answer names the MCP path', async (path) => {
  const host = await openTestHost();
  const ask = async (authorization: string | undefined) => {
    const { status, messages } = await send(host, { path, headers: { authorization } });
    return [status, messages[0]?.error?.message];
  };
  const refused = [
    401,
    'Missing or wrong token. Send the header "Authorization: Bearer <token>". The MCP endpoint is /mcp.',
  ];
  expect(await ask(undefined)).toEqual(refused);
  expect(await ask('Bearer wrong')).toEqual(refused);
  expect(await ask(`Bearer ${TOKEN}`)).toEqual([404, 'Not found. The MCP endpoint is /mcp.']);
});

test('a browser shows no response as a page', async () => {
  const host = await openTestHost();
  const markup = encodeURI('/<img src=x onerror=alert(1)></script>');
  for (const sent of [
    { path: markup },
    { path: markup, headers: { authorization: undefined } },
    { path: '/healthz', method: 'GET' },
    { body: rpc('<script>alert(1)</script>') },
    { body: '<script>alert(1)</script>' },
  ]) {
    const { headers, text } = await send(host, sent);
    expect(headers['content-type']).toMatch(/^application\/json\b/);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  }
});

test('an important header must not appear twice', async () => {
  const host = await openTestHost();
  const body = JSON.stringify(rpc('initialize'));
  const lines = [
    'POST /mcp HTTP/1.1',
    `Host: 127.0.0.1:${host.port}`,
    `Authorization: Bearer ${TOKEN}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'Connection: close',
    `Content-Length: ${body.length}`,
  ];
  const ask = (...more: string[]) => sendRaw(host.port, [...lines, ...more, '', body].join('\r\n'));
  expect(await ask()).toMatch(/^HTTP\/1\.1 200 /);
  for (const more of [
    'Host: evil.example',
    'Authorization: Bearer x',
    'Content-Type: text/plain',
  ]) {
    expect(await ask(more)).toMatch(/^HTTP\/1\.1 400 /);
  }
  const nameless = lines.filter((line) => !line.startsWith('Host'));
  expect(await sendRaw(host.port, [...nameless, '', body].join('\r\n'))).toMatch(
    /^HTTP\/1\.1 400 /,
  );
  expect(await sendRaw(host.port, [...nameless, 'Host:', '', body].join('\r\n'))).toMatch(
    /^HTTP\/1\.1 421 /,
  );
  // What HTTP itself does not allow.
  expect(await ask('Transfer-Encoding: chunked')).toMatch(/^HTTP\/1\.1 400 /);
  expect(host.sessions).toHaveLength(1);
});

test('health is public, and nothing else', async () => {
  const host = await openTestHost();
  const ask = (sent: Sent) =>
    send(host, {
      method: 'GET',
      path: '/healthz',
      ...sent,
      headers: { authorization: undefined, ...sent.headers },
    });
  const { status, text, headers } = await ask({});
  expect({ status, text }).toEqual({ status: 200, text: '{"status":"ok"}' });
  expect(headers['cache-control']).toBe('no-store');
  expect((await ask({ method: 'HEAD' })).status).toBe(200);
  expect((await ask({ path: '/healthz?x=1' })).status).toBe(200);
  expect((await ask({ headers: { host: 'evil.example' } })).status).toBe(421);
  expect((await ask({ headers: { origin: EVIL } })).status).toBe(403);
  expect((await ask({ method: 'DELETE' })).headers.allow).toBe('GET, HEAD');
});

test('without a token, everything else is still checked', async () => {
  const host = await openTestHost({ token: undefined });
  const ask = (headers: Record<string, string>) =>
    send(host, { body: rpc('initialize'), headers: { authorization: undefined, ...headers } });
  expect((await ask({ host: 'evil.example' })).status).toBe(421);
  expect((await ask({ origin: EVIL })).status).toBe(403);
  expect((await ask({ 'content-type': 'text/plain' })).status).toBe(415);
  expect(host.sessions).toHaveLength(0);
  expect((await ask({})).status).toBe(200);
});
