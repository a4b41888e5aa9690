// Hosts that reach the built program over HTTP: the official SDK's clients, with real servers behind.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { OddServer } from '../support/odd-http-server.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { configWith, createProject, PATIENT } from '../support/project.ts';
import { connectV1, connectV2, type HttpClient, startServing } from '../support/serve-http.ts';
import { publishedServer, testServer } from '../support/servers.ts';

const textOf = (result: Record<string, unknown>): string =>
  (result['content'] as { text?: string }[]).map(({ text }) => text).join('');

/** Switches a server on, which may have to start first. */
async function activate(host: HttpClient, name: string): Promise<void> {
  const end = performance.now() + 60_000;
  for (;;) {
    const result = await host.callTool('gateway_activate', { name });
    if (result['isError'] !== true) return;
    if (performance.now() > end) throw new Error(textOf(result));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe.each([
  { client: 'the client of SDK v1', connect: connectV1, era: 'handshake' },
  { client: 'the client of SDK v2, legacy', connect: connectV2('legacy'), era: 'handshake' },
  { client: 'the client of SDK v2, auto', connect: connectV2('auto'), era: 'modern' },
])('$client', ({ connect, era }) => {
  const call = (host: HttpClient, subtool: string, args: object, options = {}) =>
    host.callTool('everything_suite', { action: 'call', subtool, args }, options);

  test('lists, calls, sees progress in order, and cancels', async () => {
    const project = createProject();
    const file = join(project.dir, 'recording.txt');
    project.write('switchboard.config.json', {
      ...PATIENT,
      mcpServers: {
        everything: publishedServer('everything', 'stdio', project.dir),
        recording: testServer('recording', file),
      },
    });
    const host = await connect(await startServing(project));
    expect(host.server).toMatchObject({ name: 'switchboard' });
    expect(await host.toolNames()).toEqual(['everything_suite', 'recording_suite']);
    expect(processesWith(project.dir).length).toBe(0);
    expect(textOf(await call(host, 'echo', { message: 'žluť 🦊' }))).toContain('žluť 🦊');

    const seen: number[] = [];
    const result = await call(
      host,
      'trigger-long-running-operation',
      { duration: 0.5, steps: 5 },
      { onprogress: ({ progress }: { progress: number }) => seen.push(progress) },
    );
    expect(textOf(result)).toContain('completed');
    expect(seen).toEqual([1, 2, 3, 4, 5]);

    const abort = new AbortController();
    const held = host.callTool(
      'recording_suite',
      { action: 'call', subtool: 'hold', args: {} },
      { signal: abort.signal },
    );
    const recorded = (word: string) =>
      existsSync(file) && readFileSync(file, 'utf8').includes(word);
    expect(await eventually(() => recorded('"hold"'))).toBe(true);
    abort.abort();
    await expect(held).rejects.toThrow(/abort/i);
    expect(await eventually(() => recorded('notifications/cancelled'))).toBe(true);
    expect(textOf(await call(host, 'echo', { message: 'still' }))).toContain('still');
  });

  test('two of them switch servers independently', async () => {
    const project = createProject({
      '.switchboard/servers.json': {
        box: testServer('toolbox'),
        cup: testServer('changes', 'pour'),
      },
    });
    const serving = await startServing(project);
    const [one, two] = [await connect(serving), await connect(serving)];
    const before = await one.toolNames();
    expect(before).toEqual(await two.toolNames());
    await activate(one, 'box');
    await activate(two, 'cup');
    const [ones, twos] = [await one.toolNames(), await two.toolNames()];
    expect(ones).toEqual([
      ...before,
      'complain',
      'echo',
      'exit',
      'fail',
      'say',
      'wait',
      'where_am_i',
    ]);
    expect(twos).toEqual([...before, 'ask', 'change', 'pour']);
    expect(await eventually(() => one.listChanges() > 0 && two.listChanges() > 0)).toBe(true);
    expect(textOf(await one.callTool('echo', { text: 'mine' }))).toContain('mine');
    await expect(two.callTool('echo', { text: 'mine' })).rejects.toThrow('echo');
    await one.callTool('gateway_deactivate', { name: 'box' });
    expect(await one.toolNames()).toEqual(before);
    expect(await two.toolNames()).toEqual(twos);
  });

  test.runIf(era === 'modern')('has no session and still works', async () => {
    const project = createProject(configWith({ box: testServer('toolbox') }));
    const host = await connect(
      await startServing(project, { env: { SWITCHBOARD_HTTP_IDLE_MS: '100' } }),
    );
    expect(host.sessionId()).toBeUndefined();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await host.toolNames()).toEqual(['box_suite']);
  });

  test.runIf(era === 'handshake')(
    'a session that was ended, or that nobody used for too long, is gone',
    async () => {
      const project = createProject(configWith({ box: testServer('toolbox') }));
      const env = { SWITCHBOARD_HTTP_IDLE_MS: '1500' };
      const serving = await startServing(project, { env });
      const host = await connect(serving);
      const id = host.sessionId() ?? '';
      expect(id).not.toBe('');
      const ask = async (session: string): Promise<number> => {
        const response = await fetch(serving.url, {
          method: 'POST',
          headers: {
            ...serving.headers,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            'mcp-session-id': session,
          },
          body: '{"jsonrpc":"2.0","id":"x","method":"ping"}',
        });
        await response.text();
        return response.status;
      };
      expect(await ask(id)).toBe(200);
      await host.terminate();
      expect(await ask(id)).toBe(404);

      const other = await connect(serving);
      const otherId = other.sessionId() ?? '';
      expect(await ask(otherId)).toBe(200);
      await other.close(); // which ends its connections, and says no word about the session
      let status = 200;
      for (let tries = 0; tries < 20 && status !== 404; tries++) {
        // Asking is using it: it must be left alone for longer than it may be idle.
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        status = await ask(otherId);
      }
      expect(status).toBe(404);
    },
  );
});

test('a call whose stream breaks is resumed until its result', async () => {
  const project = createProject(
    configWith({ everything: publishedServer('everything', 'stdio') }, PATIENT),
  );
  const { url, headers } = await startServing(project);
  const post = (body: object, more: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(url, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...more,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      ...(signal ? { signal } : {}),
    });
  const hello = await post({
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    },
  });
  await hello.text();
  const session = { 'mcp-session-id': hello.headers.get('mcp-session-id') ?? '' };
  const cut = new AbortController();
  const response = await post(
    {
      id: 'long',
      method: 'tools/call',
      params: {
        name: 'everything_suite',
        arguments: {
          action: 'call',
          subtool: 'trigger-long-running-operation',
          args: { duration: 2, steps: 4 },
        },
        _meta: { progressToken: 'token' },
      },
    },
    session,
    cut.signal,
  );
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const reader = response.body?.getReader();
  let text = '';
  while (!text.includes('"progress":1')) {
    text += new TextDecoder().decode((await reader?.read())?.value as Uint8Array);
  }
  cut.abort();
  // More may have come with it: taken up again is what came behind this one.
  const until = text.slice(0, text.indexOf('"progress":1'));
  const [lastEventId = ''] = [...until.matchAll(/^id: (.*)$/gm)].map(([, id]) => id).slice(-1);
  const again = await fetch(url, {
    headers: { ...headers, ...session, accept: 'text/event-stream', 'last-event-id': lastEventId },
  });
  const rest = await again.text(); // it ends with the answer
  const messages = [...rest.matchAll(/^data: (.+)$/gm)].map(
    ([, data = '']) => JSON.parse(data) as { id?: string; params?: { progress: number } },
  );
  expect(messages.map(({ id, params }) => id ?? params?.progress)).toEqual([2, 3, 4, 'long']);
});

describe('the program', () => {
  const project = () => createProject(configWith({ box: testServer('toolbox') }));

  test('prints a working URL and entry, and nothing on stdout', async () => {
    const here = project();
    const serving = await startServing(here);
    const token = serving.headers['Authorization']?.replace('Bearer ', '') ?? '';
    const { stderr } = serving;
    expect(
      stderr()
        .replaceAll(token, 'TOKEN')
        .replaceAll(/:\d+\/mcp/g, ':PORT/mcp')
        .replaceAll(here.dir, 'DIR'),
    ).toMatchInlineSnapshot(`
      "switchboard: trusting DIR/switchboard.config.json: it was created on this machine, and no git repository tracks it.
      switchboard: serving MCP over HTTP at http://127.0.0.1:PORT/mcp
      In a host's configuration file:
        {"mcpServers":{"switchboard":{"type":"http","url":"http://127.0.0.1:PORT/mcp","headers":{"Authorization":"Bearer TOKEN"}}}}
      The token is stored in DIR/home/.switchboard/http-token.
      "
    `);
    expect(await (await connectV1(serving)).toolNames()).toEqual(['box_suite']);
    expect(statSync(join(here.dir, 'home/.switchboard/http-token')).mode & 0o777).toBe(0o600);
    expect(serving.stdout()).toBe('');
    expect((await startServing(here)).headers).toEqual(serving.headers);
    // Neither stands where other users of the machine could see it.
    expect(processesWith(token)).toEqual([]);
  });

  test('can be started by the environment, and continues when its stdin ends', async () => {
    const serving = await startServing(project(), {
      args: [],
      env: { TRANSPORT: 'http', PORT: '0', HOST: 'localhost' },
    });
    serving.process.stdin?.end();
    expect(new URL(serving.url).hostname).toBe('localhost');
    expect(await (await connectV1(serving)).toolNames()).toEqual(['box_suite']);
  });

  test('exits on a signal, with its servers and streams', async () => {
    const here = createProject();
    here.write('switchboard.config.json', {
      ...PATIENT,
      mcpServers: { everything: publishedServer('everything', 'stdio', here.dir) },
    });
    const serving = await startServing(here);
    const host = await connectV1(serving);
    const echo = { action: 'call', subtool: 'echo', args: { message: 'x' } };
    await host.callTool('everything_suite', echo);
    expect(processesWith(here.dir).length).toBeGreaterThan(0);
    const long = {
      action: 'call',
      subtool: 'trigger-long-running-operation',
      args: { duration: 60, steps: 600 },
    };
    let progresses = 0;
    const running = host.callTool('everything_suite', long, { onprogress: () => progresses++ });
    running.catch(() => {}); // looked at below
    expect(await eventually(() => progresses > 0)).toBe(true);
    expect(await serving.stop()).toBe(0);
    await expect(running).rejects.toThrow(/shutting down|closed|terminated/i);
    expect(processesWith(here.dir)).toEqual([]);
  });

  test('reports every host to "switchboard status"', async () => {
    const here = project();
    const serving = await startServing(here);
    await connectV1(serving);
    await connectV2('legacy')(serving);
    const ask = async () => {
      const { stdout } = await runSwitchboard(here, ['status', '--json']);
      const text = stdout.match(/"client"/g) ?? [];
      return text.length;
    };
    let clients = 0;
    for (let tries = 0; tries < 30 && clients !== 2; tries++) clients = await ask();
    expect(clients).toBe(2);
  });

  test('offers new hosts the reloaded settings, and keeps serving the others', async () => {
    const here = createProject(configWith({ box: testServer('toolbox') }));
    const serving = await startServing(here);
    const before = await connectV2('auto')(serving);
    expect(before.sessionId()).toBeUndefined(); // it speaks the modern era
    here.write('.switchboard/servers.json', { cup: testServer('changes', 'pour') });
    serving.process.kill('SIGHUP');
    const isRead = () => serving.stderr().includes('reloaded the configuration');
    expect(await eventually(isRead)).toBe(true);
    const after = await connectV2('auto')(serving);
    expect(after.sessionId()).toBeDefined();
    expect(await after.toolNames()).toContain('gateway_activate');
    const echo = { action: 'call', subtool: 'echo', args: { text: 'still' } };
    expect(textOf(await before.callTool('box_suite', echo))).toContain('still');
  });

  test('explains in a sentence why it does not start', async () => {
    const here = project();
    const { url } = await startServing(here);
    const { port } = new URL(url);
    const taken = await runSwitchboard(here, ['serve', '--http', '--port', port]);
    expect(taken).toMatchObject({ status: 2, stdout: '' });
    expect(taken.stderr).toContain(
      `Cannot listen on 127.0.0.1:${port}: the port is already in use.`,
    );
    const remote = await runSwitchboard(here, ['serve', '--http', '--host', '0.0.0.0']);
    expect(remote.status).toBe(2);
    expect(remote.stderr).toContain('--allow-remote');
    const open = ['serve', '--http', '--host', '0.0.0.0', '--allow-remote', '--no-auth'];
    expect((await runSwitchboard(here, open)).stderr).toContain('without authentication');
    for (const secret of ['not a token', 'hunter2']) {
      const env = { SWITCHBOARD_HTTP_TOKEN: secret };
      const wrong = await runSwitchboard(here, ['serve', '--http', '--port', '0'], { env });
      expect(wrong.status).toBe(2);
      expect(wrong.stderr).toContain('openssl rand -hex 32');
      expect(wrong.stderr).not.toContain(secret);
    }
  });

  test('keeps hosts’ credentials from servers, its log and its entry', async () => {
    const far = await OddServer.start();
    const here = createProject();
    here.write('switchboard.config.json', {
      mcpServers: {
        far: { url: `${far.url}/mcp` },
        near: testServer('faulty', '--tag=near', `--journal=${join(here.dir, 'journal')}`),
      },
    });
    const secret = 'a-token-of-my-own-0123456789-abcdef';
    const serving = await startServing(here, {
      args: [],
      env: {
        SWITCHBOARD_HTTP_TOKEN: secret,
        SWITCHBOARD_LOG: 'debug',
        TRANSPORT: 'http',
        PORT: '0',
      },
    });
    expect(serving.headers['Authorization']).toBe('Bearer ${SWITCHBOARD_HTTP_TOKEN}');
    const host = await connectV1({ ...serving, headers: { Authorization: `Bearer ${secret}` } });
    await host.callTool('far_suite', { action: 'introspect' });
    expect(far.requests.length).toBeGreaterThan(0);
    expect(far.requests.map(({ headers }) => headers.authorization)).toEqual(
      far.requests.map(() => undefined),
    );
    expect(JSON.stringify(far.requests.map(({ headers }) => headers))).not.toContain(secret);
    for (const name of ['SWITCHBOARD_HTTP_TOKEN', 'TRANSPORT', 'PORT']) {
      const args = { action: 'call', subtool: 'env', args: { name } };
      expect(JSON.stringify(await host.callTool('near_suite', args))).not.toMatch(/http"|own-|"0"/);
    }
    expect(serving.stderr()).not.toContain(secret);
  });
});
