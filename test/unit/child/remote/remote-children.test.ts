// Servers that are reached over the network, seen through the same eyes as those that are processes:
// the published ones, and one of ours where every byte matters.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cancellation } from '../../../../src/base/cancellation.ts';
import { Verbatim } from '../../../../src/rpc/verbatim.ts';
import {
  beginEvents,
  event,
  OddServer,
  result,
  sendJson,
} from '../../../support/odd-http-server.ts';
import { type PublishedHttp, startEverything } from '../../../support/published-http.ts';
import {
  callText,
  failureOf,
  startLocal,
  startRemote,
  until,
} from '../../../support/remote-child.ts';
import { publishedServer } from '../../../support/servers.ts';

const CALLS: readonly [tool: string, args: object][] = [
  ['echo', { message: 'žluť 🦊' }],
  ['get-sum', { a: 2, b: 40 }],
  ['get-structured-content', { location: 'Chicago' }],
  ['get-tiny-image', {}],
  ['get-annotated-message', { messageType: 'error', includeImage: true }],
  ['get-resource-links', { count: 3 }],
  ['echo', { wrong: true }],
];

describe.each([
  { transport: 'streamableHttp', type: 'http' },
  { transport: 'sse', type: 'http' }, // found out by itself
  { transport: 'sse', type: 'sse' },
] as const)('the published server over $transport, configured as $type', ({ transport, type }) => {
  let server: PublishedHttp;
  beforeAll(async () => {
    server = await startEverything(transport);
  });
  afterAll(() => server.stop());

  test('lists and answers as over stdio', async () => {
    const { command, args } = publishedServer('everything', 'stdio');
    const [near, far] = await Promise.all([
      startLocal(command, args),
      startRemote(server.url, { type }),
    ]);

    expect(far.child.greeting).toEqual(near.child.greeting);
    expect(await far.child.listTools()).toEqual(await near.child.listTools());
    for (const [tool, toolArgs] of CALLS) {
      expect(await callText(far.child, tool, toolArgs)).toBe(
        await callText(near.child, tool, toolArgs),
      );
    }
  });

  test('many concurrent calls each get their own answer', async () => {
    const { child } = await startRemote(server.url, { type });
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    const calls = numbers.map((a) => callText(child, 'get-sum', { a, b: 1_000 }));
    const texts = await Promise.all(calls);
    expect(texts.map((text) => text.includes('The sum of'))).not.toContain(false);
    expect(texts.map((text) => /is (\d+)/.exec(text)?.[1])).toEqual(
      numbers.map((a) => String(a + 1_000)),
    );
  });

  test('progress arrives before the answer', async () => {
    const { child } = await startRemote(server.url, { type });
    const progress: unknown[] = [];
    await callText(
      child,
      'trigger-long-running-operation',
      { duration: 0.4, steps: 4 },
      {
        meta: Verbatim.of({ progressToken: 'mine' }),
        onProgress: ({ value }) => progress.push((value as { progress: number }).progress),
      },
    );
    expect(progress).toEqual([1, 2, 3, 4]);
  });

  test('a cancelled call ends at once, and the next one works', async () => {
    const { child } = await startRemote(server.url, { type });
    const cancellation = new Cancellation();
    const slow = { duration: 600, steps: 600 };
    const progress: unknown[] = [];
    const call = callText(child, 'trigger-long-running-operation', slow, {
      cancellation,
      meta: Verbatim.of({ progressToken: 1 }),
      onProgress: (params) => progress.push(params),
    });
    await until(() => progress.length > 0);
    cancellation.cancel(new Error('no longer wanted'));
    expect((await failureOf(call)).message).toBe('no longer wanted');
    expect(await callText(child, 'echo', { message: 'still' })).toContain('Echo: still');
  });
});

test('a restarted published server gets a new handshake, and the call arrives', async () => {
  const first = await startEverything('streamableHttp');
  const { child } = await startRemote(first.url);
  expect(await callText(child, 'echo', { message: 'one' })).toContain('Echo: one');
  await first.stop();

  expect(await failureOf(callText(child, 'echo', { message: 'two' }))).toMatchObject({
    code: 'CHILD_UNREACHABLE',
  });
  const second = await startEverything('streamableHttp', Number(new URL(first.url).port));
  try {
    expect(await callText(child, 'echo', { message: 'three' })).toContain('Echo: three');
  } finally {
    await child.stop();
    await second.stop();
  }
});

const EXACT =
  '{"content":[{"type":"text","text":"\\u00fc","new":1.0}],"big":18446744073709551615,"_meta":{"x":[1e400,-0]},"zzz":{}}';

describe('passes values through unchanged', () => {
  test.each(['json', 'events'])('a result as %s arrives as sent', async (kind) => {
    const server = await OddServer.start({
      onRequest: ({ message }, reply) => {
        const text = `{"stray":true,"result":${EXACT},"id":${JSON.stringify(message.id)},"jsonrpc":"2.0"}`;
        if (kind === 'json') sendJson(reply, text);
        else beginEvents(reply).end(event(text));
      },
    });
    const { child } = await startRemote(server.url);
    expect(await callText(child, 'any')).toBe(EXACT);
  });

  test('arguments arrive as given', async () => {
    const server = await OddServer.start();
    const { child } = await startRemote(server.url);
    const args = new Verbatim('{"n":18446744073709551615,  "x":1.0}', undefined);
    await child.callTool('any', args, {});
    const call = server.requests.find(({ message }) => message.method === 'tools/call');
    expect(call?.text).toContain('"arguments":{"n":18446744073709551615,  "x":1.0}');
  });

  test('an error keeps its code and data, regardless of the HTTP status', async () => {
    const server = await OddServer.start({
      onRequest: ({ message }, reply) =>
        sendJson(
          reply,
          `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"error":{"code":-32042,"message":"Not so","data":{"n":18446744073709551615}}}`,
          message.params?.['name'] === 'bad' ? 400 : 200,
        ),
    });
    const { child } = await startRemote(server.url);
    for (const tool of ['good', 'bad']) {
      const error = await failureOf(callText(child, tool));
      expect(error).toMatchObject({
        code: -32042,
        message: `Not so (server "far", subtool "${tool}")`,
      });
      expect((error as { data?: Verbatim }).data?.text).toBe('{"n":18446744073709551615}');
    }
  });

  test('a batch and an id returned as a string are accepted', async () => {
    const server = await OddServer.start({
      onRequest: ({ message }, reply) => sendJson(reply, `[${result(String(message.id), EXACT)}]`),
    });
    const { child } = await startRemote(server.url);
    expect(await callText(child, 'any')).toBe(EXACT);
  });
});

test('a list includes all its pages', async () => {
  const server = await OddServer.start({
    onRequest: ({ message }, reply) => {
      const page = Number(message.params?.['cursor'] ?? 0);
      const next = page < 4 ? `,"nextCursor":"${page + 1}"` : '';
      const tool = `{"name":"tool-${page}","inputSchema":{"type":"object"}}`;
      sendJson(reply, result(message.id, `{"tools":[${tool}]${next}}`));
    },
  });
  const { child } = await startRemote(server.url);
  expect((await child.listTools()).map(({ name }) => name)).toEqual([
    'tool-0',
    'tool-1',
    'tool-2',
    'tool-3',
    'tool-4',
  ]);
});

test('the server’s own messages arrive, and its requests are answered', async () => {
  const server = await OddServer.start({
    onGet: (_, reply) => {
      beginEvents(reply);
      reply.write(event('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'));
      reply.write(event('{"jsonrpc":"2.0","id":"are you there","method":"ping"}'));
    },
  });
  const { child, notifications } = await startRemote(server.url);
  await until(() => notifications.length > 0);
  expect(notifications).toEqual([
    { method: 'notifications/tools/list_changed', params: undefined },
  ]);
  const answer = () => server.requests.find(({ text }) => text.includes('are you there'));
  await until(() => answer() !== undefined);
  expect(answer()?.text).toBe('{"jsonrpc":"2.0","id":"are you there","result":{}}');
  await child.stop();
  await until(() => server.openSockets === 0);
});

test('its own stream is reopened after the last event', async () => {
  const server = await OddServer.start({
    onGet: ({ headers }, reply) => {
      beginEvents(reply);
      const after = headers['last-event-id'];
      if (after === undefined) reply.end(event('{"jsonrpc":"2.0","method":"first"}', 'a'));
      else reply.write(event(`{"jsonrpc":"2.0","method":"after-${String(after)}"}`));
    },
  });
  const { notifications } = await startRemote(server.url);
  await until(() => notifications.length === 2);
  expect(notifications.map(({ method }) => method)).toEqual(['first', 'after-a']);
});

test('its own stream is reopened after the server had a failure', async () => {
  let requests = 0;
  const server = await OddServer.start({
    onGet: (_, reply) => {
      if (requests++ === 0) return void reply.writeHead(503).end();
      beginEvents(reply);
      reply.write(event('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'));
    },
  });
  const { notifications } = await startRemote(server.url);
  await until(() => notifications.length > 0);
  expect(requests).toBe(2);
});

test('session and revision are sent with every request after the handshake, and at its end', async () => {
  const server = await OddServer.start({ hasSessions: true });
  const { child } = await startRemote(server.url, { headers: { 'X-Key': 'a-configured-value' } });
  await callText(child, 'any');
  await child.stop();
  const told = server.requests.map(({ httpMethod, message, headers }) => [
    message.method ?? httpMethod,
    headers['mcp-session-id'],
    headers['mcp-protocol-version'],
    headers['x-key'],
  ]);
  const all = ['session-1', '2025-11-25', 'a-configured-value'];
  expect(told.filter(([what]) => what !== 'GET')).toEqual([
    ['initialize', undefined, undefined, 'a-configured-value'],
    ['notifications/initialized', ...all],
    ['tools/call', ...all],
    ['DELETE', ...all],
  ]);
  await until(() => server.openSockets === 0);
});

test('nothing is sent to the server during the handshake', async () => {
  const order: string[] = [];
  const server = await OddServer.start({
    before: ({ message }, reply) => {
      if (message.method !== 'notifications/initialized') order.push(message.method ?? 'GET');
      else {
        setTimeout(() => {
          order.push('notifications/initialized');
          reply.writeHead(202).end();
        }, 100);
        return true;
      }
      return false;
    },
  });
  const { child } = await startRemote(server.url);
  await callText(child, 'any');
  expect(order.filter((what) => what !== 'GET')).toEqual([
    'initialize',
    'notifications/initialized',
    'tools/call',
  ]);
});

test('connections are reused', async () => {
  const ports = new Set<number | undefined>();
  const server = await OddServer.start({
    onRequest: ({ message }, reply) => {
      ports.add(reply.req.socket.remotePort);
      beginEvents(reply).end(event(result(message.id, EXACT)));
    },
  });
  const { child } = await startRemote(server.url);
  for (let count = 0; count < 20; count++) await callText(child, 'any');
  expect(ports.size).toBeLessThan(5);
});

test('nothing is read while the host does not read', async () => {
  let sent = 0;
  const server = await OddServer.start({
    onRequest: ({ message }, reply) => {
      beginEvents(reply);
      const line = `: ${'x'.repeat(65_000)}\n`;
      const pump = (): void => {
        while (sent < 40 << 20) {
          sent += line.length;
          if (!reply.write(line)) return void reply.once('drain', pump);
        }
        reply.end(event(result(message.id, EXACT)));
      };
      pump();
    },
  });
  const { child } = await startRemote(server.url);
  child.pause();
  const call = callText(child, 'any');
  await until(() => sent > 0);
  let before = -1;
  while (before !== sent) {
    before = sent;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  expect(sent).toBeLessThan(30 << 20);
  child.resume();
  expect(await call).toBe(EXACT);
});
