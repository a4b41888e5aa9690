// The era without handshakes over HTTP, through the peer of a link, which is all that a child has.
import { describe, expect, onTestFinished, test } from 'vitest';
import { Cancellation } from '../../../../src/base/cancellation.ts';
import { RemoteLink, type RemoteLinkOptions } from '../../../../src/child/remote/remote-link.ts';
import type { Remote } from '../../../../src/config/config.ts';
import { RpcError } from '../../../../src/rpc/message.ts';
import { Verbatim } from '../../../../src/rpc/verbatim.ts';
import { childConfig } from '../../../support/child-config.ts';
import { startModern } from '../../../support/modern-http.ts';
import {
  beginEvents,
  event,
  OddServer,
  result,
  sendJson,
} from '../../../support/odd-http-server.ts';
import { startEverything } from '../../../support/published-http.ts';
import { failureOf, until } from '../../../support/remote-child.ts';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
};
const HANDSHAKE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

interface Opened {
  readonly link: RemoteLink;
  readonly notifications: string[];
  readonly ask: (
    method: string,
    params?: object,
    cancellation?: Cancellation,
  ) => Promise<Record<string, unknown>>;
}

function open(
  url: string,
  { inputSchemaOf }: Pick<RemoteLinkOptions, 'inputSchemaOf'> = {},
  type: Remote['type'] = 'http',
): Opened {
  const notifications: string[] = [];
  const remote: Remote = { type, url, headers: {} };
  const config = childConfig({ name: 'far', remote, command: undefined });
  const link = new RemoteLink(config, remote, {
    inputSchemaOf,
    onStderr: () => {},
    onRequest: () => Verbatim.of({}),
    onNotification: (method) => notifications.push(method),
    onBug: (error) => expect.fail(String(error)),
  });
  onTestFinished(() => link.stop());
  return {
    link,
    notifications,
    ask: async (method, params = { _meta: META }, cancellation = new Cancellation()) => {
      const sent = Verbatim.of(params);
      // As the modern conversation does.
      const mirrored = '_meta' in params ? sent : undefined;
      const options = { timeoutMs: 10_000, cancellation, mirrored };
      const answer = await link.peer.request(method, sent, options);
      return answer.value as Record<string, unknown>;
    },
  };
}

const call = (name: string, args: object = {}) => ({ name, arguments: args, _meta: META });

describe('a modern server', () => {
  test('gets headers that match the body, and no others', async () => {
    const server = await startModern('reject');
    const { link, ask } = open(server.url);

    expect((await ask('server/discover'))['supportedVersions']).toEqual(['2026-07-28']);
    const { content } = await ask('tools/call', call('greet'));
    expect(content).toEqual([{ type: 'text', text: 'Hello' }]);
    const { messages } = await ask('prompts/get', call('grüße'));
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Guten Tag' } }]);
    const { contents } = await ask('resources/read', { uri: 'test://page', _meta: META });
    expect(contents).toEqual([{ uri: 'test://page', text: 'read' }]);
    await failureOf(ask('tasks/get', { taskId: 'task 7', _meta: META })); // it has no tasks
    await link.stop();

    expect(
      server.requests.map(({ httpMethod, headers }) => [
        httpMethod,
        headers['mcp-protocol-version'],
        headers['mcp-method'],
        headers['mcp-name'],
        headers['mcp-session-id'],
      ]),
    ).toEqual([
      ['POST', '2026-07-28', 'server/discover', undefined, undefined],
      ['POST', '2026-07-28', 'tools/call', 'greet', undefined],
      [
        'POST',
        '2026-07-28',
        'prompts/get',
        `=?base64?${Buffer.from('grüße').toString('base64')}?=`,
        undefined,
      ],
      ['POST', '2026-07-28', 'resources/read', 'test://page', undefined],
      ['POST', '2026-07-28', 'tasks/get', 'task 7', undefined],
    ]);
  });

  test('gets arguments in headers if the tool’s schema asks for it', async () => {
    const server = await startModern('reject');
    const schemas = new Map<string, unknown>();
    const { ask } = open(server.url, { inputSchemaOf: (tool) => schemas.get(tool) });

    const without = await failureOf(ask('tools/call', call('sorted', { region: 'eu ' })));
    expect(without).toMatchObject({ code: -32020 });

    const { tools } = (await ask('tools/list')) as {
      tools: { name: string; inputSchema: unknown }[];
    };
    for (const { name, inputSchema } of tools) schemas.set(name, inputSchema);
    const { content } = await ask('tools/call', call('sorted', { region: 'eu ' }));
    expect(content).toEqual([{ type: 'text', text: 'eu ' }]);
    expect(server.requests.at(-1)?.headers['mcp-param-region']).toBe('=?base64?ZXUg?=');
  });

  test('does not get a call whose schema cannot be looked up, and gets the next request', async () => {
    const server = await startModern('reject');
    const { ask } = open(server.url, {
      inputSchemaOf: () => {
        throw new Error('injected');
      },
    });
    expect((await failureOf(ask('tools/call', call('greet')))).message).toBe('injected');
    expect(await ask('tools/list')).toHaveProperty('tools');
  });

  test('sees a cancelled call by its closed connection', async () => {
    const server = await startModern('reject');
    const { ask } = open(server.url);
    const cancellation = new Cancellation();
    const slow = failureOf(ask('tools/call', call('slow'), cancellation));
    await until(() => server.requests.length === 1);
    cancellation.cancel(new Error('enough'));
    expect((await slow).message).toBe('enough');
    await until(() => server.left.length === 1);
    await ask('tools/call', call('greet'));
    expect(server.requests.map(({ message }) => message.method)).toEqual([
      'tools/call',
      'tools/call',
    ]);
  });

  test('reports changes to subscribers, on the stream of their request', async () => {
    const server = await startModern('reject');
    const { ask, notifications, link } = open(server.url);
    const cancellation = new Cancellation();
    const params = { notifications: { toolsListChanged: true }, _meta: META };
    const listening = failureOf(ask('subscriptions/listen', params, cancellation));
    await until(() => notifications.length === 1);
    server.changeTools();
    await until(() => notifications.length === 2);
    expect(notifications[1]).toBe('notifications/tools/list_changed');
    cancellation.cancel(new Error('enough'));
    await listening;
    await link.stop();
    expect(server.requests.length).toBe(1);
  });

  test('whose answer is cut does not get the call again, nor a resume request', async () => {
    const server = await OddServer.start({
      onRequest: (_, reply) =>
        beginEvents(reply).end(event('{"jsonrpc":"2.0","method":"note"}', '1')),
    });
    const { ask } = open(server.url);
    expect((await failureOf(ask('tools/call', call('any')))).message).toBe(
      'Server "far" ended its HTTP response without answering the request.',
    );
    expect(server.requests.length).toBe(1);
  });

  test('has no session, whatever it returns', async () => {
    const server = await OddServer.start({
      onRequest: ({ message }, reply) => {
        reply.setHeader('Mcp-Session-Id', 'one');
        sendJson(reply, result(message.id, '{}'));
      },
    });
    const { ask, link } = open(server.url);
    await ask('server/discover');
    await ask('tools/list');
    await link.stop();
    expect(
      server.requests.map(({ httpMethod, headers }) => [httpMethod, headers['mcp-session-id']]),
    ).toEqual([
      ['POST', undefined],
      ['POST', undefined],
    ]);
  });
});

describe('probed for the modern era', () => {
  /** Asks, hears that it does not, and shakes hands over the same link. */
  async function fallBack(url: string, type: Remote['type'] = 'http') {
    const { ask, link } = open(url, {}, type);
    const refusal = await failureOf(ask('server/discover'));
    expect(refusal).toBeInstanceOf(RpcError);
    const greeting = await ask('initialize', HANDSHAKE);
    link.peer.notify('notifications/initialized');
    return { ask, greeting, refusal: refusal as RpcError, link };
  }

  test.each([
    [404, -32601],
    [400, -32022],
    [200, -32601],
  ])('a server that refuses (%d, %d) gets a handshake over the same link', async (status, code) => {
    const server = await OddServer.start({
      hasSessions: true,
      onRequest: ({ message }, reply) =>
        message.method === 'server/discover'
          ? sendJson(
              reply,
              `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"error":{"code":${code},"message":"?","data":{"supported":[]}}}`,
              status,
            )
          : sendJson(reply, result(message.id, '{"tools":[]}')),
    });
    const { ask, refusal } = await fallBack(server.url);
    expect(refusal.code).toBe(code);
    expect(refusal.data?.value).toEqual({ supported: [] });
    expect(await ask('tools/list', {})).toEqual({ tools: [] });
    expect(server.requests.at(-1)?.headers).toMatchObject({
      'mcp-session-id': 'session-1',
      'mcp-protocol-version': '2025-11-25',
    });
    expect(server.requests.at(-1)?.headers['mcp-method']).toBe(undefined);
  });

  test.each([
    [
      400,
      'application/json',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No session"}}',
    ],
    [404, 'text/plain', 'no such page'],
    [405, 'text/plain', ''],
    [500, 'text/html', '<p>Oops</p>'],
    [200, 'text/html', '<p>Welcome</p>'],
    [200, 'application/json', '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"?"}}'],
    [202, 'text/plain', ''],
    [200, 'text/event-stream', ': nothing\n\n'],
  ])('a confused server (%d, %s, %s) also gets a handshake', async (status, type, text) => {
    const server = await OddServer.start({
      before: ({ message }, reply) => {
        if (message.method !== 'server/discover') return false;
        reply.writeHead(status, { 'content-type': type }).end(text);
        return true;
      },
    });
    const { greeting } = await fallBack(server.url);
    expect(greeting['protocolVersion']).toBe('2025-11-25');
  });

  test('a server with both eras answers in both', async () => {
    const server = await startModern('stateless');
    const { ask } = open(server.url);
    await ask('server/discover');
    expect((await ask('initialize', HANDSHAKE))['protocolVersion']).toBe('2025-11-25');
  });

  test('a silent server gets a handshake meanwhile, and its late refusal is harmless', async () => {
    let refuse = (): void => {};
    const server = await OddServer.start({
      before: ({ message }, reply) => {
        if (message.method !== 'server/discover') return false;
        refuse = () => void reply.writeHead(404).end();
        return true;
      },
    });
    const { ask } = open(server.url);
    const cancellation = new Cancellation();
    const question = failureOf(ask('server/discover', { _meta: META }, cancellation));
    await until(() => server.count('server/discover') === 1);
    const greeting = ask('initialize', HANDSHAKE);
    expect((await greeting)['protocolVersion']).toBe('2025-11-25');
    refuse();
    cancellation.cancel(new Error('enough'));
    await question;
    expect(await ask('ping', {})).toBeDefined();
    expect(server.requests.filter(({ httpMethod }) => httpMethod === 'GET')).toEqual([]);
  });

  test.each(['streamableHttp', 'sse'] as const)(
    'a published server over %s gets a handshake',
    async (transport) => {
      const server = await startEverything(transport);
      onTestFinished(() => server.stop());
      const { ask, greeting, link } = await fallBack(server.url);
      expect(greeting['serverInfo']).toMatchObject({ name: expect.stringContaining('everything') });
      expect(((await ask('tools/list', {}))['tools'] as unknown[]).length).toBeGreaterThan(3);
      await link.stop();
    },
  );

  test('a server over the older transport that refuses the probe gets a handshake', async () => {
    let stream: Parameters<typeof beginEvents>[0] | undefined;
    const server = await OddServer.start({
      before: ({ httpMethod, message }, reply) => {
        if (httpMethod === 'GET') {
          stream = beginEvents(reply);
          stream.write('event: endpoint\ndata: /messages\n\n');
        } else if (message.method === 'initialize') {
          stream?.write(event(result(message.id, '{"protocolVersion":"2024-11-05"}')));
          reply.writeHead(202).end();
        } else reply.writeHead(400).end('what?');
        return true;
      },
    });
    expect((await fallBack(server.url, 'sse')).greeting['protocolVersion']).toBe('2024-11-05');
  });
});
