// Servers over the network, through the built program: to the host they are servers like any other.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import { runSwitchboard } from '../support/command.ts';
import { OddServer, result } from '../support/odd-http-server.ts';
import { eventually } from '../support/processes.ts';
import { configWith, createProject, FIXTURES, PATIENT } from '../support/project.ts';
import { startEverything } from '../support/published-http.ts';
import { RawHost, textOf, toolsOf } from '../support/raw-host.ts';
import { publishedServer } from '../support/servers.ts';

async function everything(transport: 'streamableHttp' | 'sse'): Promise<string> {
  const server = await startEverything(transport);
  onTestFinished(() => server.stop());
  return server.url;
}

/** A server that answers every call with its arguments, over WebSocket. */
async function startSocketServer(): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  const tools = [{ name: 'echo', description: 'Echoes.', inputSchema: { type: 'object' } }];
  const answers: Record<string, (params: Record<string, unknown>) => object> = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: {}, serverInfo: {} }),
    'tools/list': () => ({ tools }),
    'tools/call': (params) => ({
      content: [{ type: 'text', text: JSON.stringify(params['arguments']) }],
    }),
  };
  server.on('connection', (client) => {
    client.on('message', (data: Buffer) => {
      const { id, method, params } = JSON.parse(data.toString()) as {
        id?: number;
        method: string;
        params: Record<string, unknown>;
      };
      const answer = answers[method];
      if (id !== undefined && answer) client.send(result(id, JSON.stringify(answer(params))));
    });
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.each([
  ['Streamable HTTP', 'streamableHttp', {}],
  ['HTTP with server-sent events, found out', 'sse', {}],
  ['HTTP with server-sent events, told', 'sse', { type: 'sse' }],
] as const)('%s', (_name, transport, keys) => {
  test('a server looks the same as over stdio', async () => {
    const url = await everything(transport);
    const project = createProject(
      configWith({ far: { url, ...keys }, near: publishedServer('everything') }, PATIENT),
    );
    const host = await RawHost.connect(project);
    const [far, near] = await Promise.all([host.introspect('far'), host.introspect('near')]);
    expect(toolsOf(far)).toEqual(toolsOf(near));
    for (const [tool, args] of [
      ['echo', { message: 'hello' }],
      ['get-sum', { a: 1, b: 2 }],
      ['get-tiny-image', {}],
      ['get-structured-content', { location: 'New York' }],
    ] as const) {
      const answers = await Promise.all([
        host.call('far', tool, args),
        host.call('near', tool, args),
      ]);
      expect(answers[0]?.result).toEqual(answers[1]?.result);
      expect(answers[0]?.result?.content?.length).toBeGreaterThan(0);
    }
  });
});

test('can be switched on and listed directly', async () => {
  const url = await everything('streamableHttp');
  const project = createProject(
    configWith(
      { on: { url, show: 'flip' }, always: { url: `${url}?again`, show: 'direct' } },
      PATIENT,
    ),
  );
  const host = await RawHost.connect(project);
  expect(await eventually(() => host.listChanges > 0)).toBe(true);
  const listed = await host.toolNames();
  expect(listed).toContain('get-sum');
  const activate = () => host.callTool('gateway_activate', { name: 'on' });
  while (textOf(await activate()).includes('warming'))
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await host.toolNames()).toContain('on_get-sum');
  expect(textOf(await host.callTool('on_get-sum', { a: 20, b: 22 }))).toContain('42');
});

test('WebSocket', async () => {
  const project = createProject(configWith({ ws: { url: await startSocketServer() } }));
  const host = await RawHost.connect(project);
  expect(toolsOf(await host.introspect('ws')).map(({ name }) => name)).toEqual(['echo']);
  expect(textOf(await host.call('ws', 'echo', { a: 1 }))).toBe('{"a":1}');
});

test('variables in url and headers are expanded, and header values stay secret', async () => {
  const secret = 'token-that-nobody-may-see';
  const odd = await OddServer.start({
    onRequest: (_request, reply) => reply.writeHead(500).end(`no luck with ${secret}`),
  });
  const project = createProject(
    configWith({
      far: { url: '${WHERE}', headers: { Authorization: 'Bearer ${TOKEN}', 'X-Team': 'a' } },
    }),
  );
  const host = await RawHost.connect(project, { env: { WHERE: odd.url, TOKEN: secret } });
  const answer = await host.call('far', 'anything');
  expect(odd.requests[0]?.headers).toMatchObject({
    authorization: `Bearer ${secret}`,
    'x-team': 'a',
  });
  expect(odd.count('tools/call')).toBe(1);
  expect(answer.result?.isError).toBe(true);
  expect(textOf(answer)).toContain('500');
  const everythingSaid = JSON.stringify(answer) + (await host.lastWords());
  expect(everythingSaid).not.toContain(secret);
});

test('an unreachable server fails only its own call', async () => {
  const odd = await OddServer.start();
  const project = createProject(
    configWith({
      gone: { url: 'http://127.0.0.1:9/mcp' },
      here: { url: odd.url },
      strange: { url: 'ftp://example.org/x' },
      unknown: { url: 'https://example.org', type: 'pigeon' },
    }),
  );
  const host = await RawHost.connect(project);
  const said = async (name: string) => textOf(await host.call(name, 'x'));
  expect(await said('gone')).toContain('Server "gone"');
  expect(await said('gone')).toContain('127.0.0.1:9');
  expect(await said('here')).toBe('done');
  expect(await said('strange')).toContain('starts with ftp:');
  expect(await said('unknown')).toContain('"pigeon"');
});

test('a lost session is replaced, and the call is made once', async () => {
  let current = 0;
  const odd = await OddServer.start({
    hasSessions: true,
    before: ({ headers, message }, reply) => {
      const isOld =
        message.method === 'tools/call' && headers['mcp-session-id'] !== `session-${current}`;
      if (isOld) reply.writeHead(404).end();
      return isOld;
    },
  });
  const project = createProject(configWith({ far: { url: odd.url } }));
  const host = await RawHost.connect(project);
  current = 1;
  expect(textOf(await host.call('far', 'x'))).toBe('done');
  current = 2; // as if the server had been restarted
  expect(textOf(await host.call('far', 'x'))).toBe('done');
  expect(odd.sessions).toHaveLength(2);
});

test('an idle connection is closed and reopened', async () => {
  const odd = await OddServer.start({ hasSessions: true });
  const project = createProject(configWith({ far: { url: odd.url, idleMs: 150 } }));
  const host = await RawHost.connect(project);
  expect(textOf(await host.call('far', 'x'))).toBe('done');
  expect(
    await eventually(() => odd.requests.some(({ httpMethod }) => httpMethod === 'DELETE')),
  ).toBe(true);
  expect(textOf(await host.call('far', 'x'))).toBe('done');
  expect(odd.sessions).toHaveLength(2);
});

test('signing in: refused with a command, signed in, renewed once for all calls', async () => {
  const issuer = await startAuthorizationServer();
  onTestFinished(() => issuer[Symbol.asyncDispose]());
  const odd = await OddServer.start({
    before: ({ headers, message }, reply) => {
      if (issuer.accepts(headers.authorization)) return false;
      const where = `${issuer.issuer}/.well-known/oauth-protected-resource/mcp`;
      reply.setHeader('WWW-Authenticate', `Bearer resource_metadata="${where}"`);
      reply.writeHead(401).end();
      return message !== undefined;
    },
  });
  issuer.faults.resourceMetadata = { resource: odd.url };
  const project = createProject(configWith({ far: { url: odd.url } }));
  const host = await RawHost.connect(project);
  const refused = await host.call('far', 'x');
  expect(refused.result?.isError).toBe(true);
  expect(textOf(refused)).toContain('Run: switchboard login far');

  issuer.faults.expiresIn = 1;
  const env = { BROWSER: join(FIXTURES, 'programs/browser.mjs') };
  const login = await runSwitchboard(project, ['login', 'far'], { env });
  expect(login).toMatchObject({ status: 0 });
  issuer.faults.expiresIn = 3600;
  await new Promise((resolve) => setTimeout(resolve, 1_500)); // until the first token has expired
  const calls = await Promise.all(Array.from({ length: 50 }, () => host.call('far', 'x')));
  expect(calls.map((answer) => textOf(answer))).toEqual(Array.from({ length: 50 }, () => 'done'));
  expect(issuer.refreshes()).toBe(1);
  expect(odd.count('tools/call')).toBe(50);
});
