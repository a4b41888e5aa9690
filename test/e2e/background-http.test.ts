// `switchboard serve --http` is a session of the background process, so its hosts share servers with all others.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createSharedProject, killBackground, type SharedProject } from '../support/background.ts';
import { runSwitchboard } from '../support/command.ts';
import { startModelServer } from '../support/model-server-chat.ts';
import { eventually, isAlive, processesOf, serversWith } from '../support/processes.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { connectV1, connectV2, type HttpClient, startServing } from '../support/serve-http.ts';
import { testServer } from '../support/servers.ts';

async function askBox(host: HttpClient, subtool: string): Promise<string> {
  const { content } = await host.callTool('box_suite', { action: 'call', subtool, args: {} });
  const [{ text = '' } = {}] = content as { text?: string }[];
  return text;
}

async function boxOf(host: HttpClient): Promise<number> {
  return (JSON.parse(await askBox(host, 'where_am_i')) as { pid: number }).pid;
}

async function boxOfEntry(host: RawHost): Promise<number> {
  const { pid } = JSON.parse(textOf(await host.call('box', 'where_am_i'))) as { pid: number };
  return pid;
}

async function backgroundsOf(project: SharedProject) {
  const { stdout } = await runSwitchboard(project, ['status', '--json']);
  return JSON.parse(stdout) as {
    backgrounds: {
      pid: number;
      sessions: { client: string; project: string; entry: number }[];
      children: { name: string; pid?: number; sessions?: number; calls: number }[];
    }[];
    running: unknown[];
  };
}

test('hosts over HTTP and over stdio share one process', async () => {
  const project = createSharedProject({ box: testServer('toolbox', 'marked-box') });
  const serving = await startServing(project);
  expect(serving.stderr()).toContain('serving MCP over HTTP at http://127.0.0.1:');
  const [one, two] = [await connectV1(serving), await connectV2('auto')(serving)];
  const entry = await RawHost.connect(project, { client: 'codex' });
  const pid = await boxOf(one);
  expect(await boxOf(two)).toBe(pid);
  expect(await boxOfEntry(entry)).toBe(pid);
  expect(serversWith('marked-box').map((box) => box.pid)).toEqual([pid]);

  const { backgrounds, running } = await backgroundsOf(project);
  expect(running).toEqual([]);
  expect(backgrounds).toMatchObject([
    {
      sessions: [
        { client: 'switchboard serve --http (test-host)', entry: serving.process.pid },
        { client: 'codex' },
      ],
      children: [{ name: 'box', pid, sessions: 2, calls: 3 }],
    },
  ]);

  // The server stays for the entry, and the listener doesn't.
  expect(await serving.stop()).toBe(0);
  await expect(fetch(serving.url)).rejects.toThrow('fetch failed');
  expect(await boxOfEntry(entry)).toBe(pid);
  expect(await entry.close()).toEqual({ code: 0, signal: null });
  expect(serversWith('marked-box')).toEqual([]);
});

test('a server with "share": "session" has a process for each host', async () => {
  const project = createSharedProject({
    box: { ...testServer('toolbox', 'marked-box'), share: 'session' },
  });
  const serving = await startServing(project);
  const [one, two] = [await connectV1(serving), await connectV2('legacy')(serving)];
  const pids = [await boxOf(one), await boxOf(two)];
  expect(new Set(pids).size).toBe(2);
  await one.terminate();
  expect(await eventually(() => !isAlive(pids[0] ?? 0))).toBe(true);
  expect(await boxOf(two)).toBe(pids[1]);
  const { backgrounds } = await backgroundsOf(project);
  expect(backgrounds).toMatchObject([{ children: [{ name: 'box', pid: pids[1], sessions: 1 }] }]);
  expect(await serving.stop()).toBe(0);
  expect(serversWith('marked-box')).toEqual([]);
});

test('if the background process is killed, another one listens on the same port', async () => {
  const project = createSharedProject({ box: testServer('toolbox', 'marked-box') });
  const serving = await startServing(project);
  const [old, modern] = [await connectV1(serving), await connectV2('auto')(serving)];
  const before = project.background();
  await boxOf(old);
  await killBackground(project);
  expect(await eventually(() => project.backgrounds().length === 1)).toBe(true);
  await expect.poll(() => serving.stderr()).toContain('Looking for another one');
  const isBack = async (): Promise<boolean> =>
    fetch(serving.url).then(
      () => true,
      () => false,
    );
  await expect.poll(isBack).toBe(true);
  // In the handshake era, the session is gone and the host has to start another one.
  await expect(boxOf(old)).rejects.toThrow(/404|not found/i);
  const next = await connectV1(serving);
  const pid = await boxOf(next);
  expect(await boxOf(modern)).toBe(pid);
  expect(await eventually(() => serversWith('marked-box').length === 1)).toBe(true);
  expect(project.background()).not.toBe(before);
  expect(await serving.stop()).toBe(0);
  expect(serversWith('marked-box')).toEqual([]);
});

test('over and over, it serves alone at the same address', async () => {
  const project = createSharedProject({ box: testServer('toolbox') });
  const serving = await startServing(project);
  for (let times = 0; times < 4; times++) {
    await expect.poll(() => project.backgrounds().length).toBe(1);
    await expect
      .poll(async () => (await backgroundsOf(project)).backgrounds[0]?.sessions.length)
      .toBe(1);
    await killBackground(project);
  }
  await expect
    .poll(() => serving.stderr())
    .toContain('serving alone from now on: the background process keeps ending.');
  await expect
    .poll(() => serving.stderr().split('serving alone from now on').at(-1))
    .toContain('serving MCP over HTTP at');
  const host = await connectV1(serving);
  expect(await boxOf(host)).toBeGreaterThan(0);
  expect(project.backgrounds()).toEqual([]);
  expect(await serving.stop()).toBe(0);
});

test.each([
  ['SWITCHBOARD_ALONE=1', { env: { SWITCHBOARD_ALONE: '1' } }, {}],
  ['--alone', { args: ['serve', '--http', '--port', '0', '--alone'] }, {}],
  ['"shared": false', {}, { shared: false }],
  ['a sandbox', { env: { CODEX_SANDBOX: 'seatbelt' } }, {}],
])('with %s, it serves by itself', async (why, options, settings) => {
  const project = createSharedProject({ box: testServer('toolbox') }, settings);
  const serving = await startServing(project, options);
  const host = await connectV1(serving);
  expect(await boxOf(host)).toBeGreaterThan(0);
  expect(project.backgrounds()).toEqual([]);
  expect(serving.stderr().includes('serving alone: this is a sandbox.')).toBe(why === 'a sandbox');
  expect(await serving.stop()).toBe(0);
});

test('a port that is taken is an error, as alone', async () => {
  const project = createSharedProject({ box: testServer('toolbox') });
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const args = ['serve', '--http', '--port', String(port)];
  const alone = await runSwitchboard(project, [...args, '--alone']);
  const shared = await runSwitchboard(project, args);
  const said = shared.stderr.split('\n').filter((line) => !line.includes('trusting'));
  expect(said[0]).toBe(
    `switchboard: Cannot listen on 127.0.0.1:${port}: the port is already in use.`,
  );
  expect(alone.stderr).toContain(said.join('\n'));
  expect(shared.status).toBe(alone.status);
  expect(shared.status).not.toBe(0);
});

test('Ctrl-C ends the listener and its servers, and SIGHUP reloads', async () => {
  const project = createSharedProject({ box: testServer('toolbox', 'marked-box') });
  const serving = await startServing(project);
  const host = await connectV1(serving);
  await boxOf(host);
  project.write('switchboard.config.json', {
    mcpServers: { box: testServer('toolbox', 'marked-box'), more: testServer('toolbox') },
  });
  serving.process.kill('SIGHUP');
  await expect.poll(() => host.toolNames()).toContain('more_suite');
  serving.process.kill('SIGINT');
  const [status] = (await once(serving.process, 'close')) as [number | null];
  expect(status).toBe(0);
  expect(serversWith('marked-box')).toEqual([]);
  await expect(fetch(serving.url)).rejects.toThrow('fetch failed');
});

test('a killed one leaves no listener', async () => {
  const project = createSharedProject({ box: testServer('toolbox', 'marked-box') });
  const serving = await startServing(project);
  const host = await connectV1(serving);
  await boxOf(host);
  serving.process.kill('SIGKILL');
  expect(await eventually(() => serversWith('marked-box').length === 0)).toBe(true);
  await expect(fetch(serving.url)).rejects.toThrow('fetch failed');
});

test('stop names it, and ends it only with --force; restart listens again', async () => {
  const project = createSharedProject({ box: testServer('toolbox', 'marked-box') });
  const serving = await startServing(project);
  await boxOf(await connectV1(serving));
  const refused = await runSwitchboard(project, ['stop']);
  expect(refused.status).not.toBe(0);
  expect(refused.stderr).toContain(
    `This would interrupt 1 session: switchboard serve --http (test-host) in ${project.dir}.`,
  );
  const before = project.background();
  await runSwitchboard(project, ['restart', '--force']);
  await expect.poll(() => project.backgrounds().filter((pid) => pid !== before).length).toBe(1);
  await expect.poll(() => connectV1(serving).then(boxOf, () => 0)).toBeGreaterThan(0);

  await runSwitchboard(project, ['stop', '--force']);
  if (serving.process.exitCode === null) await once(serving.process, 'close');
  expect(serving.process.exitCode).toBe(0);
  expect(serving.stderr()).toContain('stopped, because the background process was stopped.');
  expect(serversWith('marked-box')).toEqual([]);
  expect(project.backgrounds()).toEqual([]);
});

test('the token is in no log, no command line and not in status', async () => {
  const token = `canary-${'x'.repeat(40)}`;
  const project = createSharedProject({ box: testServer('toolbox', 'marked-box') });
  const serving = await startServing(project, {
    args: [],
    env: { TRANSPORT: 'http', PORT: '0', SWITCHBOARD_HTTP_TOKEN: token },
  });
  const headers = { Authorization: `Bearer ${token}` };
  const host = await connectV1({ url: serving.url, headers });
  await boxOf(host);
  const wrong = { Authorization: `Bearer ${token}x` };
  expect((await fetch(serving.url, { method: 'POST', headers: wrong })).status).toBe(401);
  const { stdout } = await runSwitchboard(project, ['status', '--json']);
  const shown = [
    stdout,
    serving.stderr(),
    readFileSync(join(project.home, 'logs/background.log'), 'utf8'),
    // With their environments, which servers get without our settings.
    ...processesOf(project.dir)
      .filter(({ pid }) => pid !== serving.process.pid)
      .map(({ command }) => command),
  ];
  for (const text of shown) expect(text).not.toContain(token);
  expect(await serving.stop()).toBe(0);
});

test('assistants remember nothing, and share the server behind them with other sessions', async () => {
  const model = await startModelServer(({ results }) =>
    results[0] ? { text: results[0].text } : { calls: [{ name: 'where_am_i', args: {} }] },
  );
  const project = createSharedProject({
    kid: { ...testServer('toolbox', 'marked-kid'), assistant: true },
  });
  const env = model.env('messages');
  const token = `canary-${'x'.repeat(40)}`;
  const serving = await startServing(project, { env: { ...env, SWITCHBOARD_HTTP_TOKEN: token } });
  const headers = { Authorization: `Bearer ${token}` };
  const [one, two] = [
    await connectV1({ url: serving.url, headers }),
    await connectV2('auto')({ url: serving.url, headers }),
  ];
  const entry = await RawHost.connect(project, { env });
  const argumentsFor = (query: string) => ({
    action: 'call',
    subtool: 'natural_language',
    args: { query },
  });
  const ask = async (host: HttpClient, query: string): Promise<string> => {
    const { content } = await host.callTool('kid_suite', argumentsFor(query));
    return (content as { text: string }[])[0]?.text ?? '';
  };
  const { pid } = JSON.parse(await ask(one, 'the first question')) as { pid: number };
  const answers = [await ask(one, 'the second question'), await ask(two, 'the third question')];
  expect(model.requests.at(-1)?.said.join()).not.toContain('the first question');
  const params = { name: 'kid_suite', arguments: argumentsFor('the last question') };
  answers.push(textOf(await entry.request('tools/call', params)));
  for (const answer of answers) {
    expect((JSON.parse(answer) as { pid: number }).pid).toBe(pid);
    expect(answer).not.toContain(token);
  }
  expect(serversWith('marked-kid')).toHaveLength(1);
  expect(
    processesOf(project.dir).filter(({ command }) => command.includes('assistant serve')),
  ).toEqual([]);
  await entry.close();
  expect(await serving.stop()).toBe(0);
  expect(serversWith('marked-kid')).toEqual([]);
});
