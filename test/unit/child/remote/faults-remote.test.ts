// What servers and networks do wrong, and what becomes of it: one clear failure for the request
// concerned, soon, and the next request works as if nothing had been.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SwitchboardError } from '../../../../src/base/errors.ts';
import type { Credentials } from '../../../../src/child/credentials.ts';
import {
  beginEvents,
  event,
  type Handler,
  OddServer,
  result,
  sendJson,
} from '../../../support/odd-http-server.ts';
import { callText, failureOf, startRemote, until } from '../../../support/remote-child.ts';

const DONE = '{"content":[]}';
const answer: Handler = ({ message }, reply) => sendJson(reply, result(message.id, DONE));

/** A server that answers the first call so, and all others well. */
async function startOdd(first: Handler) {
  let calls = 0;
  return OddServer.start({
    onRequest: (request, reply) => {
      calls += 1;
      if (calls === 1) first(request, reply);
      else answer(request, reply);
    },
  });
}

/** Calls such a server; the call fails, was received once, and the next one works. */
async function failOnce(first: Handler, options: Parameters<typeof startRemote>[1] = {}) {
  const server = await startOdd(first);
  const { child } = await startRemote(server.url, options);
  const began = performance.now();
  const error = await failureOf(callText(child, 'any'));
  const tookMs = performance.now() - began;
  expect(server.count('tools/call')).toBe(1);
  expect(await callText(child, 'any')).toBe(DONE);
  expect(error).toBeInstanceOf(SwitchboardError);
  return { error: error as SwitchboardError, tookMs, server };
}

/** Noisy machines are slow; what is meant to come at once comes far sooner than the limit of a call. */
const SOON_MS = 40_000;
const TEST_LIMITS = { config: { timeouts: { spawnMs: 60_000, rpcMs: 3_000, stopMs: 500 } } };

describe('an error response', () => {
  test('from the server names the status and quotes the page', async () => {
    const page = `<html>\n<h1>Bad \u001b[31mgateway\u001b[0m</h1>${'x'.repeat(3_000)}</html>`;
    const { error, tookMs } = await failOnce((_, reply) =>
      reply.writeHead(502, { 'content-type': 'text/html' }).end(page),
    );
    expect(error.code).toBe('CHILD_UNREACHABLE');
    expect(error.message).toMatch(/^Server "far" responded with HTTP 502: <html> <h1>Bad gateway/);
    expect(error.message.length).toBeLessThan(600);
    expect(error.hint).toBe('The server failed. Try again later.');
    expect(error.data).toEqual({ child: 'far', status: 502 });
    expect(tookMs).toBeLessThan(SOON_MS);
  });

  test('with an endless page is not waited for', async () => {
    const { error, tookMs } = await failOnce((_, reply) => {
      reply.writeHead(500, { 'content-type': 'text/plain' });
      reply.write('first words');
    });
    expect(error.message).toBe('Server "far" responded with HTTP 500: first words');
    expect(tookMs).toBeLessThan(SOON_MS);
  });

  test('that echoes a secret does not reveal it', async () => {
    const headers = { Authorization: 'Bearer abcdef-123456', 'X-Key': 'key-0987654321' };
    const { error } = await failOnce(
      ({ headers: sent }, reply) =>
        reply
          .writeHead(500)
          .end(
            `You sent ${String(sent.authorization)} and ${String(sent['x-key'])}; token abcdef-123456.`,
          ),
      { headers },
    );
    expect(error.message).toBe(
      'Server "far" responded with HTTP 500: You sent *** and ***; token ***.',
    );
  });

  test('that echoes the URL does not reveal its secrets', async () => {
    process.env['FAR_ACCOUNT'] = 'sk-1234';
    process.env['FAR_SECRET'] = 'very secret/0123456789';
    onTestFinished(() => {
      delete process.env['FAR_ACCOUNT'];
      delete process.env['FAR_SECRET'];
    });
    const server = await OddServer.start({
      before: ({ httpMethod, path }, reply) => {
        const words = [
          path,
          decodeURIComponent(path),
          new URL(path, 'http://x').searchParams.get('k'),
        ];
        reply.writeHead(404).end(`Cannot ${httpMethod} ${words.join(' nor ')}`);
        return true;
      },
    });
    const url = `${server.origin}/s/\${FAR_ACCOUNT}-of-the-account/mcp?k=\${FAR_SECRET}`;
    const { message } = await failureOf(startRemote(url));
    expect(message).toBe('Server "far" responded with HTTP 404: Cannot POST *** nor *** nor ***');
  });

  test('503 with Retry-After says when to try again', async () => {
    const { error } = await failOnce((_, reply) =>
      reply.writeHead(503, { 'retry-after': '7' }).end(),
    );
    expect(error.text).toBe(
      `Server "far" responded with HTTP 503 The server failed. Try again in 7 s.`,
    );
    expect(error.data).toMatchObject({ retryAfterSeconds: 7 });
  });

  test.each([
    ['text/html', '<p>Welcome</p>', 'text/html instead of JSON or an event stream: <p>Welcome</p>'],
    [
      'application/json',
      '<p>Welcome</p>',
      'invalid JSON instead of JSON or an event stream: <p>Welcome</p>',
    ],
    ['', '', 'something instead of JSON or an event stream.'],
  ])('though its status is 200: %s %s', async (type, body, words) => {
    const { error } = await failOnce((_, reply) =>
      reply.writeHead(200, type === '' ? {} : { 'content-type': type }).end(body),
    );
    expect(error.message).toBe(`Server "far" responded with ${words}`);
    expect(error.code).toBe('CHILD_PROTOCOL');
  });

  test('an answer to another request does not count', async () => {
    const { error } = await failOnce((_, reply) => sendJson(reply, result(4711, DONE)));
    expect(error.message).toBe(
      'Server "far" ended its HTTP response without answering the request.',
    );
  });
});

describe('too many requests', () => {
  test('are not repeated before the server allows it', async () => {
    let isBusy = true;
    const asked: number[] = [];
    const server = await OddServer.start({
      onRequest: (request, reply) => {
        asked.push(performance.now());
        if (!isBusy) return answer(request, reply);
        return reply.writeHead(429, { 'retry-after': '5' }).end();
      },
    });
    const { child } = await startRemote(server.url);
    const first = await failureOf(callText(child, 'any'));
    expect(first).toMatchObject({
      code: 'CHILD_UNREACHABLE',
      message: 'Server "far" is limiting requests (HTTP 429).',
      hint: 'Try again in 5 s; until then, Switchboard sends it no requests.',
      data: { child: 'far', status: 429, retryAfterSeconds: 5 },
    });
    isBusy = false;
    const second = await failureOf(callText(child, 'any'));
    expect(second).toMatchObject({ data: { status: 429 } });
    expect(server.count('tools/call')).toBe(1);

    await expect.poll(() => callText(child, 'any').catch(() => 'not yet')).toBe(DONE);
    expect(server.count('tools/call')).toBe(2);
    const [refusedAt = 0, answeredAt = 0] = asked;
    expect(answeredAt - refusedAt).toBeGreaterThan(4_900);
  });
});

/** Credentials that hand out `token-1`, `token-2` … */
function countingCredentials(accepted: (value: string) => boolean) {
  let current = 1;
  let renewals = 0;
  let running: Promise<string | undefined> | undefined;
  const value = () => `Bearer secret-token-${current}`;
  const credentials: Credentials = {
    authorization: () => Promise.resolve(value()),
    renew: (used) => {
      if (used !== value()) return Promise.resolve(value());
      running ??= (async () => {
        renewals += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
        current += 1;
        running = undefined;
        return accepted(value()) ? value() : undefined;
      })();
      return running;
    },
  };
  return { credentials, renewals: () => renewals };
}

describe('signing in', () => {
  const refuse = (reply: Parameters<Handler>[1], status = 401, challenge = 'Bearer realm="x"') =>
    reply.writeHead(status, { 'www-authenticate': challenge }).end();

  test('is suggested if the user has not signed in', async () => {
    const server = await OddServer.start({ before: (_, reply) => (refuse(reply), true) });
    const error = await failureOf(startRemote(server.url));
    expect(error).toMatchObject({
      code: 'CHILD_SIGN_IN',
      message: 'Server "far" requires you to sign in (HTTP 401).',
      hint: 'Run: switchboard login far',
      data: { child: 'far', status: 401, challenge: 'Bearer realm="x"' },
    });
    expect(server.requests.map(({ httpMethod }) => httpMethod)).toEqual(['POST']);
  });

  test('is not suggested if the configured header was rejected', async () => {
    const server = await OddServer.start({ before: (_, reply) => (refuse(reply), true) });
    const { credentials, renewals } = countingCredentials(() => true);
    const headers = { authorization: 'Bearer configured-token' };
    const error = await failureOf(startRemote(server.url, { headers, credentials }));
    expect(error).toMatchObject({
      code: 'CHILD_SIGN_IN',
      hint: 'It rejected the configured Authorization header. Check it in /project/switchboard.config.json.',
    });
    expect(server.requests.map(({ headers: sent }) => sent.authorization)).toEqual([
      'Bearer configured-token',
    ]);
    expect(renewals()).toBe(0);
  });

  test('a token that expires during fifty calls is renewed once, and each call arrives once', async () => {
    let valid = 'Bearer secret-token-1';
    const done: string[] = [];
    const server = await OddServer.start({
      before: ({ headers }, reply) => {
        if (headers.authorization === valid) return false;
        refuse(reply);
        return true;
      },
      onRequest: (request, reply) => {
        done.push(String(request.message.params?.['name']));
        answer(request, reply);
      },
    });
    const { credentials, renewals } = countingCredentials(() => true);
    const { child } = await startRemote(server.url, { credentials });
    valid = 'Bearer secret-token-2';
    const names = Array.from({ length: 50 }, (_, index) => `tool-${index}`);
    const texts = await Promise.all(names.map((name) => callText(child, name)));
    expect(texts).toEqual(names.map(() => DONE));
    expect(done.length).toBe(names.length);
    expect(new Set(done)).toEqual(new Set(names));
    expect(renewals()).toBe(1);
  });

  test('a useless renewal is tried once', async () => {
    const server = await OddServer.start({ before: (_, reply) => (refuse(reply), true) });
    const { credentials, renewals } = countingCredentials(() => true);
    const error = await failureOf(startRemote(server.url, { credentials }));
    expect(error).toMatchObject({ code: 'CHILD_SIGN_IN' });
    expect(server.requests.length).toBe(2);
    expect(renewals()).toBe(1);
  });

  test('with more permissions is suggested', async () => {
    const server = await startOdd((_, reply) =>
      refuse(reply, 403, 'Bearer error="insufficient_scope", scope="files:write"'),
    );
    const { child } = await startRemote(server.url);
    expect(await failureOf(callText(child, 'any'))).toMatchObject({
      code: 'CHILD_SIGN_IN',
      message: 'Server "far" requires you to sign in with more permissions (HTTP 403).',
      hint: 'Run: switchboard login far',
    });
  });

  test('a credentials failure fails the request', async () => {
    const server = await OddServer.start();
    const refused = new SwitchboardError('CHILD_SIGN_IN', 'The store cannot be written.');
    const credentials: Credentials = {
      authorization: () => Promise.reject(refused),
      renew: () => Promise.resolve(undefined),
    };
    const error = await failureOf(startRemote(server.url, { credentials }));
    expect(error.message).toBe('The store cannot be written.');
    expect(server.requests).toEqual([]);
  });

  test('issued tokens are masked', async () => {
    const server = await startOdd(({ headers }, reply) =>
      reply.writeHead(500).end(`bad token ${String(headers.authorization).slice(7)}`),
    );
    const { credentials } = countingCredentials(() => true);
    const { child } = await startRemote(server.url, { credentials });
    expect((await failureOf(callText(child, 'any'))).message).toBe(
      'Server "far" responded with HTTP 500: bad token ***',
    );
  });
});

describe('a redirect', () => {
  test('to another origin is not followed, and credentials are not sent', async () => {
    const trap = await OddServer.start();
    const { error } = await failOnce(
      (_, reply) => reply.writeHead(307, { location: `${trap.url}?x=1` }).end(),
      { headers: { authorization: 'Bearer secret-token' } },
    );
    expect(error.text).toBe(
      `Server "far" redirects to ${trap.origin} (HTTP 307), which Switchboard doesn't follow. If the server has moved, set "url" to that address in /project/switchboard.config.json.`,
    );
    expect(trap.requests).toEqual([]);
  });

  test.each(['http://169.254.169.254/latest', 'file:///etc/passwd', '//[', ''])(
    'to %j is a failure',
    async (location) => {
      const { error } = await failOnce((_, reply) => reply.writeHead(302, { location }).end());
      expect(error.code).toBe('CHILD_UNREACHABLE');
      expect(error.message).toMatch(
        /redirects to .*, which Switchboard doesn't follow|redirects without a destination/,
      );
    },
  );

  test('within the origin is followed with the same method and body', async () => {
    const server = await OddServer.start({
      before: ({ path }, reply) => {
        if (path !== '/mcp') return false;
        reply.writeHead(307, { location: '/mcp/' }).end();
        return true;
      },
    });
    const { child } = await startRemote(server.url);
    expect(await callText(child, 'any')).toContain('done');
    const calls = server.requests.filter(({ message }) => message.method === 'tools/call');
    expect(calls.map(({ httpMethod, path }) => `${httpMethod} ${path}`)).toEqual([
      'POST /mcp',
      'POST /mcp/',
    ]);
  });

  test('loop is given up', async () => {
    const server = await OddServer.start({
      before: (_, reply) => {
        reply.writeHead(307, { location: '/mcp' }).end();
        return true;
      },
    });
    const error = await failureOf(startRemote(server.url));
    expect(error.message).toContain('redirects to http://127.0.0.1');
    expect(server.requests.length).toBe(4);
  });
});

describe('a stream of events', () => {
  test('that ends without the answer is a failure, and the call is not repeated', async () => {
    const { error, tookMs } = await failOnce((_, reply) =>
      beginEvents(reply).end(event('{"jsonrpc":"2.0","method":"notifications/progress"}')),
    );
    expect(error.text).toBe(
      'Server "far" ended its HTTP response without answering the request. The request was not sent again because it may already have had an effect.',
    );
    expect(tookMs).toBeLessThan(SOON_MS);
  });

  test('that is cut during the answer is a failure', async () => {
    const { error, tookMs } = await failOnce(({ message }, reply) => {
      beginEvents(reply).write(event(result(message.id, DONE)).slice(0, 30));
      setTimeout(() => reply.destroy(), 20);
    });
    expect(error.text).toBe(
      'The connection to server "far" was closed before the response arrived. The request was not sent again because it may already have had an effect.',
    );
    expect(tookMs).toBeLessThan(SOON_MS);
  });

  test('that is cut is resumed, if the server numbers its events', async () => {
    const server = await OddServer.start({
      onRequest: (_, reply) => beginEvents(reply).end('retry: 10\nid: 1\ndata:\n\n'),
      onGet: ({ headers }, reply) => {
        if (headers['last-event-id'] === undefined) return reply.writeHead(405).end();
        beginEvents(reply);
        return headers['last-event-id'] === '1'
          ? reply.end('id: 2\ndata:\n\n')
          : reply.end(event(result(2, DONE), '3'));
      },
    });
    const { child } = await startRemote(server.url);
    expect(await callText(child, 'any')).toBe(DONE);
    expect(server.count('tools/call')).toBe(1);
  });

  test('that cannot be resumed fails quickly', async () => {
    const { error, tookMs, server } = await failOnce((_, reply) =>
      beginEvents(reply).end(event('{"jsonrpc":"2.0","method":"note"}', '1')),
    );
    expect(error.message).toBe(
      'Server "far" ended its HTTP response without answering the request.',
    );
    expect(tookMs).toBeLessThan(SOON_MS);
    expect(server.requests.filter(({ headers }) => headers['last-event-id'] === '1').length).toBe(
      1,
    );
  });

  test('that stays open after its answer is closed', async () => {
    const server = await OddServer.start({
      onRequest: ({ message }, reply) => beginEvents(reply).write(event(result(message.id, DONE))),
    });
    const { child } = await startRemote(server.url);
    await callText(child, 'any');
    await callText(child, 'any');
    await until(() => server.openSockets < 2);
    expect(server.count('tools/call')).toBe(2);
  });

  test.each([
    ['without the empty line at its end', (text: string) => `data: ${text}\n`],
    ['with CR alone', (text: string) => `: x\rdata: ${text}\r\r`],
    ['with noise between', (text: string) => `nonsense\n\ndata: {{{\n\ndata: ${text}\n\n`],
  ])('%s is accepted', async (_, write) => {
    const server = await OddServer.start({
      onRequest: ({ message }, reply) => beginEvents(reply).end(write(result(message.id, DONE))),
    });
    const { child } = await startRemote(server.url);
    expect(await callText(child, 'any')).toBe(DONE);
  });

  test('with an endless event runs into the call’s limit, and leaves no socket', async () => {
    let hasLeft = false;
    const { error, server } = await failOnce(({ message }, reply) => {
      beginEvents(reply).write(`data: ${result(message.id, DONE)}\n`);
      reply.once('close', () => {
        hasLeft = true;
      });
    }, TEST_LIMITS);
    expect(error.code).toBe('CHILD_TIMEOUT');
    await until(() => server.count('notifications/cancelled') === 1);
    await until(() => hasLeft);
  });

  test('of endless comments runs into the call’s limit', async () => {
    let sent = 0;
    const { error } = await failOnce((_, reply) => {
      beginEvents(reply);
      const pump = (): void => {
        for (let room = true; room && !reply.destroyed; ) {
          sent += 1;
          room = reply.write(`: ${'x'.repeat(1_000)}\n`);
        }
      };
      reply.on('drain', () => setImmediate(pump));
      pump();
    }, TEST_LIMITS);
    expect(error.code).toBe('CHILD_TIMEOUT');
    expect(sent).toBeGreaterThan(100);
  });
});

describe('a message beyond the limit', () => {
  const limits = { config: { messageBytes: 1 << 20 } };
  const tooLarge = 'Server "far" sent a message larger than 1048576 bytes.';
  const huge = `"${'x'.repeat(1 << 16)}"`;

  test.each<[string, Handler]>([
    [
      'as JSON',
      ({ message }, reply) => sendJson(reply, result(message.id, `[${huge.repeat(20)}]`)),
    ],
    [
      'as an event',
      ({ message }, reply) =>
        beginEvents(reply).end(event(result(message.id, `[${huge.repeat(20)}]`))),
    ],
    [
      'as an event without end',
      (_, reply) => {
        beginEvents(reply).write('data: "');
        const pump = (): void => {
          while (!reply.destroyed && reply.write('x'.repeat(1 << 16)));
        };
        reply.on('drain', pump);
        pump();
      },
    ],
    [
      'that was packed small',
      (_, reply) =>
        reply
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
          .end(gzipSync(Buffer.alloc(64 << 20, 0x20))),
    ],
    [
      'as an event that was packed small',
      (_, reply) =>
        reply
          .writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
          .end(gzipSync(`data: ${'x'.repeat(64 << 20)}`)),
    ],
  ])('%s fails only its request', async (_, handler) => {
    const { error } = await failOnce(handler, limits);
    expect(error.message).toBe(tooLarge);
    expect(error.code).toBe('MESSAGE_TOO_LARGE');
  });

  test('a compressed answer of ordinary size is decompressed', async () => {
    const server = await OddServer.start({
      onRequest: ({ message }, reply) =>
        reply
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
          .end(gzipSync(result(message.id, DONE))),
    });
    const { child } = await startRemote(server.url);
    expect(await callText(child, 'any')).toBe(DONE);
  });

  test.each(['constructor', '__proto__', 'toString', 'snappy'])(
    'an answer with the unknown encoding "%s" is read as is',
    async (encoding) => {
      const server = await OddServer.start({
        onRequest: ({ message }, reply) =>
          reply
            .writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding })
            .end(result(message.id, DONE)),
      });
      const { child } = await startRemote(server.url);
      expect(await callText(child, 'any')).toBe(DONE);
    },
  );

  test('endless headers are a failure', async () => {
    const { error } = await failOnce((_, reply) => {
      const { socket } = reply;
      socket?.write('HTTP/1.1 200 OK\r\n');
      const line = `x-filler: ${'x'.repeat(1_000)}\r\n`;
      for (let count = 0; count < 2_000; count++) socket?.write(line);
    });
    expect(error.message).toMatch(
      /^Server "far" can't be reached at http:\/\/127\.0\.0\.1:\d+: its response headers are too large \(HPE_HEADER_OVERFLOW\)\.$/,
    );
  });
});

describe('a session the server has lost', () => {
  /** `lost` are the sessions that it does not know any more; it says so with `status`. */
  function startForgetful(lost: Set<string>, status: 400 | 404) {
    return OddServer.start({
      hasSessions: true,
      before: ({ headers }, reply) => {
        if (!lost.has(String(headers['mcp-session-id']))) return false;
        sendJson(
          reply,
          '{"jsonrpc":"2.0","error":{"code":-32000,"message":"No such session"},"id":null}',
          status,
        );
        return true;
      },
    });
  }

  test.each([404, 400] as const)(
    'and reports with %d is replaced, once for all calls',
    async (status) => {
      const lost = new Set<string>();
      const server = await startForgetful(lost, status);
      const { child } = await startRemote(server.url);
      lost.add('session-1');
      const texts = await Promise.all(
        Array.from({ length: 10 }, (_, index) => callText(child, `tool-${index}`)),
      );
      expect(texts.every((text) => text.includes('done'))).toBe(true);
      expect(server.sessions).toEqual(['session-1', 'session-2']);
      const arrived = server.requests.filter(
        ({ message, headers }) =>
          message.method === 'tools/call' && headers['mcp-session-id'] === 'session-2',
      );
      expect(arrived.length).toBe(10);
      expect(server.count('notifications/initialized')).toBe(2);
    },
  );

  test('again and again is a failure', async () => {
    const lost = new Set(['session-2']);
    const server = await startForgetful(lost, 404);
    const { child } = await startRemote(server.url);
    lost.add('session-1');
    const error = await failureOf(callText(child, 'any'));
    expect(error).toMatchObject({ code: 'CHILD_UNREACHABLE', data: { status: 404 } });
    expect(server.count('tools/call')).toBe(2);
  });

  test.each([
    [404, -32004],
    [404, -32000],
    [400, -32000],
  ])('is not assumed for a call’s error: %d %d', async (status, code) => {
    const server = await OddServer.start({
      hasSessions: true,
      onRequest: ({ message }, reply) => {
        const about = message.method === 'tools/call' ? code : -32601;
        const error = `{"code":${about},"message":"Ordered, but not mailed"}`;
        sendJson(
          reply,
          `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"error":${error}}`,
          status,
        );
      },
    });
    const { child } = await startRemote(server.url);
    expect(await failureOf(callText(child, 'any'))).toMatchObject({ code });
    expect(server.count('tools/call')).toBe(1);
    expect(server.sessions).toEqual(['session-1']);
  });

  test('can be a call’s error: not sent again, and the next one works', async () => {
    const lost = new Set<unknown>();
    const server = await OddServer.start({
      hasSessions: true,
      before: ({ headers, message }, reply) => {
        if (!lost.has(headers['mcp-session-id'])) return false;
        const error = '{"code":-32000,"message":"No valid session"}';
        sendJson(
          reply,
          `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"error":${error}}`,
          400,
        );
        return true;
      },
    });
    const { child } = await startRemote(server.url);
    lost.add('session-1');
    expect((await failureOf(callText(child, 'any'))).message).toContain('No valid session');
    expect(server.count('tools/call')).toBe(1);
    expect(await callText(child, 'any')).toContain('done');
  });

  test.each([
    ['text/plain', 'no such session', 404],
    ['application/json', '{"jsonrpc":"2.0","id":"ID","error":{"code":-32001,"message":"?"}}', 404],
    ['application/json', '{"jsonrpc":"2.0","id":"ID","error":{"code":-32001,"message":"?"}}', 400],
  ])('is replaced after %s %s (%d)', async (type, text, status) => {
    const lost = new Set<unknown>();
    const server = await OddServer.start({
      hasSessions: true,
      before: ({ headers, message }, reply) => {
        if (!lost.has(headers['mcp-session-id'])) return false;
        reply
          .writeHead(status, { 'content-type': type })
          .end(text.replace('"ID"', JSON.stringify(message.id) ?? 'null'));
        return true;
      },
    });
    const { child } = await startRemote(server.url);
    lost.add('session-1');
    expect(await callText(child, 'any')).toContain('done');
    expect(server.sessions).toEqual(['session-1', 'session-2']);
  });

  test('is not assumed for an unrelated 400, which is forwarded', async () => {
    const server = await OddServer.start({
      hasSessions: true,
      onRequest: ({ message }, reply) =>
        message.method === 'ping'
          ? sendJson(reply, result(message.id, '{}'))
          : sendJson(
              reply,
              `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad wish"},"id":${JSON.stringify(message.id)}}`,
              400,
            ),
    });
    const { child } = await startRemote(server.url);
    expect((await failureOf(callText(child, 'any'))).message).toBe(
      'Bad wish (server "far", subtool "any")',
    );
    expect(server.sessions.length).toBe(1);
  });
});

describe('a server that does not answer', () => {
  test('times out, is notified, and leaves no socket', async () => {
    let hasLeft = false;
    const { error, server } = await failOnce((_, reply) => {
      reply.once('close', () => {
        hasLeft = true;
      });
    }, TEST_LIMITS);
    expect(error.text).toBe(
      'RPC timeout for tools/call: server "far" did not respond within 3000 ms (subtool "any"). If it needs longer, raise rpcTimeoutMs for it (declared in /project/switchboard.config.json).',
    );
    await until(() => server.count('notifications/cancelled') === 1);
    expect(
      server.requests.find(({ message }) => message.method === 'notifications/cancelled')?.message
        .params,
    ).toEqual({
      requestId: 2,
      reason: 'No response within 3000 ms.',
    });
    await until(() => hasLeft);
  });

  test.each(['http', 'sse'] as const)(
    'messages without an answer have the handshake’s limit (%s)',
    async (type) => {
      let stream: Parameters<Handler>[1] | undefined;
      let open = 0;
      const server = await OddServer.start({
        onRequest: answer,
        before: ({ httpMethod, path, message }, reply) => {
          if (httpMethod === 'GET' && type === 'sse') {
            stream = beginEvents(reply);
            stream.write('event: endpoint\ndata: /messages\n\n');
            return true;
          }
          if (message.method?.startsWith('notifications/')) {
            open += 1;
            reply.once('close', () => {
              open -= 1;
            });
            return true;
          }
          if (path !== '/messages') return false;
          const text =
            message.method === 'initialize'
              ? '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}'
              : DONE;
          stream?.write(event(result(message.id, text)));
          reply.writeHead(202).end();
          return true;
        },
      });
      const config = { timeouts: { spawnMs: 8_000, rpcMs: 3_000, stopMs: 300 } };
      const { child } = await startRemote(server.url, { type, config });
      // Given up before it was sent: there is nothing to call off.
      await failureOf(callText(child, 'any'));
      await until(() => open === 0);
      expect(await callText(child, 'any')).toBe(DONE);
      expect(server.count('notifications/cancelled')).toBe(0);
    },
  );

  test('during the handshake fails the start', async () => {
    const server = await OddServer.start({ before: () => true });
    const config = { timeouts: { spawnMs: 300, rpcMs: 300, stopMs: 300 } };
    const error = await failureOf(startRemote(server.url, { config }));
    expect((error as SwitchboardError).text).toBe(
      'Server "far" did not respond to the handshake within 300 ms. Check "url" in /project/switchboard.config.json; if it needs longer, raise timeouts.childSpawnMs.',
    );
    await until(() => server.openSockets === 0);
  });

  test('is abandoned at once when the server is stopped', async () => {
    const server = await OddServer.start({
      hasSessions: true,
      before: ({ message, httpMethod }) =>
        message.method === 'tools/call' || httpMethod === 'DELETE',
    });
    const { child } = await startRemote(server.url);
    const call = failureOf(callText(child, 'any'));
    await until(() => server.count('tools/call') === 1);
    const began = performance.now();
    await child.stop();
    expect(performance.now() - began).toBeLessThan(SOON_MS);
    expect(await call).toMatchObject({ code: 'CHILD_UNREACHABLE' });
    await until(() => server.openSockets === 0);
  });
});

/** A TCP server that is none of HTTP. */
async function startTcp(onConnection: Parameters<typeof createServer>[1]): Promise<string> {
  const server: Server = createServer(onConnection).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a URL', () => {
  test('with nothing listening', async () => {
    const error = await failureOf(startRemote('http://127.0.0.1:9/mcp'));
    expect((error as SwitchboardError).text).toBe(
      'Server "far" can\'t be reached at http://127.0.0.1:9: nothing is listening there (ECONNREFUSED). Check that it is running, and check "url" in /project/switchboard.config.json.',
    );
  });

  test('with an unknown host name', async () => {
    const error = await failureOf(startRemote('http://no-such-host.invalid/mcp'));
    expect(error.message).toMatch(
      /can't be reached at http:\/\/no-such-host\.invalid: (the host name doesn't exist \(ENOTFOUND\)|its name can't be resolved right now \(EAI_AGAIN\))\./,
    );
  });

  test('that does not speak HTTP', async () => {
    const place = await startTcp((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    const error = await failureOf(startRemote(`http://${place}/mcp`));
    expect(error.message).toMatch(/it doesn't speak HTTP/);
  });

  test('that does not speak TLS', async () => {
    const server = await OddServer.start();
    const error = await failureOf(startRemote(server.url.replace('http:', 'https:')));
    expect(error.message).toMatch(/it doesn't speak TLS \(did you mean http:\/\/\?\)/);
  });

  test('that hangs up', async () => {
    const place = await startTcp((socket) => socket.destroy());
    const error = await failureOf(startRemote(`http://${place}/mcp`));
    expect(error.message).toMatch(/the connection was closed \(ECONNRESET\)/);
  });

  test.each([
    ['not an address', 'The URL of server "far" is invalid.'],
    ['http://', 'The URL of server "far" is invalid.'],
    ['file:///etc/passwd', 'The URL of server "far" is invalid.'],
    [
      'ftp://user:hunter2hunter2@host/x',
      'The URL of server "far" starts with ftp:, which Switchboard doesn\'t support.',
    ],
    ['javascript:alert(1)', 'The URL of server "far" is invalid.'],
  ])('that is invalid: %s', async (url, message) => {
    const error = await failureOf(startRemote(url));
    expect(error).toMatchObject({ code: 'CHILD_NOT_CONFIGURED', message });
    expect((error as SwitchboardError).text).not.toContain('hunter2');
  });

  test('with a name and a password sends them without revealing them', async () => {
    const server = await startOdd(({ headers }, reply) =>
      reply.writeHead(500).end(`${String(headers.authorization)} hunter2hunter2`),
    );
    const { child } = await startRemote(server.url.replace('//', '//user:hunter2hunter2@'));
    expect(server.requests[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('user:hunter2hunter2').toString('base64')}`,
    );
    const { message } = await failureOf(callText(child, 'any'));
    expect(message).toBe('Server "far" responded with HTTP 500: *** ***');
  });

  test('with a header that cannot be sent', async () => {
    const headers = { Authorization: 'Bearer secret\nX-Other: 1' };
    const error = await failureOf(startRemote('http://127.0.0.1:9/mcp', { headers }));
    expect(error).toMatchObject({
      code: 'CHILD_NOT_CONFIGURED',
      message:
        'Header "Authorization" of server "far" contains characters that HTTP doesn\'t allow.',
    });
  });

  test('with an unset variable', async () => {
    const error = await failureOf(startRemote('http://${NO_SUCH_VARIABLE_HERE}/mcp'));
    expect(error.message).toBe(
      'Server "far" needs the environment variable NO_SUCH_VARIABLE_HERE, which is not set (url in /project/switchboard.config.json).',
    );
  });
});

describe('a server with only the older transport', () => {
  /** One that refuses POST at its address, as such servers do. */
  async function startOlder(
    onMessage: Handler,
    options: { endpoint?: string; status?: number } = {},
  ) {
    const streams: Parameters<Handler>[1][] = [];
    const server = await OddServer.start({
      before: (request, reply) => {
        const { httpMethod, path, message } = request;
        if (httpMethod === 'GET') {
          beginEvents(reply).write(
            `event: endpoint\ndata: ${options.endpoint ?? '/messages?s=1'}\n\n`,
          );
          streams.push(reply);
        } else if (path === '/mcp') {
          reply.writeHead(options.status ?? 405).end();
        } else if (message.method === 'initialize') {
          reply.writeHead(202).end('Accepted');
          streams
            .at(-1)
            ?.write(
              event(
                result(
                  message.id,
                  '{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"older","version":"1"}}',
                ),
              ),
            );
        } else if (message.method === 'tools/call') {
          onMessage(request, reply);
        } else reply.writeHead(202).end();
        return true;
      },
    });
    return { server, stream: () => streams.at(-1) };
  }

  test.each([400, 404, 405])(
    'and refuses the handshake with %d is used with that transport',
    async (status) => {
      const older = await startOlder(
        ({ message }, reply) => {
          reply.writeHead(202).end();
          older.stream()?.write(event(result(message.id, '{"n":18446744073709551615}')));
        },
        { status },
      );
      const { child } = await startRemote(older.server.url);
      expect(child.greeting.revision).toBe('2024-11-05');
      expect(await callText(child, 'any')).toBe('{"n":18446744073709551615}');
      await child.stop();
      await until(() => older.server.openSockets === 0);
    },
  );

  test('ends with its stream: pending calls fail, and it does not reconnect by itself', async () => {
    const older = await startOlder((_, reply) => {
      reply.writeHead(202).end();
      older.stream()?.end();
    });
    const { child } = await startRemote(older.server.url, { type: 'sse' });
    const error = await failureOf(callText(child, 'any'));
    expect((error as SwitchboardError).text).toBe(
      'Server "far" ended the connection while working on subtool "any". Switchboard reconnects the next time the server is used.',
    );
    expect(await child.ended).toEqual({ kind: 'disconnected', reason: undefined });
    expect(older.server.requests.filter(({ httpMethod }) => httpMethod === 'GET').length).toBe(1);
    expect(older.server.count('tools/call')).toBe(1);
  });

  test('a refused POST fails only its request', async () => {
    let calls = 0;
    const older = await startOlder(({ message }, reply) => {
      calls += 1;
      if (calls === 1) return reply.writeHead(500).end('broken');
      older.stream()?.write(event(result(message.id, DONE)));
      return reply.writeHead(202).end();
    });
    const { child } = await startRemote(older.server.url, { type: 'sse' });
    expect((await failureOf(callText(child, 'any'))).message).toBe(
      'Server "far" responded with HTTP 500: broken',
    );
    expect(await callText(child, 'any')).toBe(DONE);
  });

  test('cannot redirect our messages elsewhere', async () => {
    const trap = await OddServer.start();
    const older = await startOlder(() => {}, { endpoint: `${trap.origin}/messages` });
    const headers = { authorization: 'Bearer secret-token' };
    const error = await failureOf(startRemote(older.server.url, { headers, type: 'sse' }));
    expect(error.message).toBe(
      `Server "far" wants messages sent to ${trap.origin}, which Switchboard refuses.`,
    );
    expect(trap.requests).toEqual([]);
  });

  test('an oversized event fails the request and ends the connection', async () => {
    const older = await startOlder(({ message }, reply) => {
      reply.writeHead(202).end();
      older.stream()?.write(event(result(message.id, `"${'x'.repeat(5_000)}"`)));
    });
    const config = { messageBytes: 4_096 };
    const { child } = await startRemote(older.server.url, { type: 'sse', config });
    expect(await failureOf(callText(child, 'any'))).toMatchObject({
      code: 'MESSAGE_TOO_LARGE',
      message: 'Server "far" sent a message larger than 4096 bytes.',
    });
    expect(await child.ended).toEqual({ kind: 'oversized' });
  });

  test('a URL with neither transport reports the newer one’s error', async () => {
    const server = await OddServer.start({
      before: ({ httpMethod }, reply) => {
        reply.writeHead(404).end(httpMethod === 'POST' ? 'no such page' : 'nor this');
        return true;
      },
    });
    const error = await failureOf(startRemote(server.url));
    expect((error as SwitchboardError).text).toBe(
      'Server "far" responded with HTTP 404: no such page Check "url" in /project/switchboard.config.json.',
    );
  });
});
