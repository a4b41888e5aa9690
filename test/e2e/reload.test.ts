// SIGHUP reads the configuration again: what changed is taken over, what did not goes on.
import { expect, test } from 'vitest';
import { eventually, isAlive } from '../support/processes.ts';
import { createProject, type Project } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const toolbox = testServer('toolbox');

function configure(project: Project, config: object | string): void {
  project.write('switchboard.config.json', config);
}

async function reload(host: RawHost, says = 'reloaded the configuration'): Promise<void> {
  const before = host.stderr.length;
  host.process.kill('SIGHUP');
  if (!(await eventually(() => host.stderr.slice(before).includes(says)))) {
    throw new Error(`It said: ${host.stderr.slice(before)}`);
  }
}

const pidOf = async (host: RawHost, name = 'a') =>
  (JSON.parse(textOf(await host.call(name, 'where_am_i'))) as { pid: number }).pid;

test('new servers appear, old ones disappear, and the host is notified', async () => {
  const project = createProject();
  configure(project, { mcpServers: { a: toolbox, b: toolbox } });
  const host = await RawHost.connect(project);
  expect(await host.toolNames()).toEqual(['a_suite', 'b_suite']);
  const [a, b] = [await pidOf(host), await pidOf(host, 'b')];

  configure(project, { mcpServers: { a: toolbox, c: toolbox } });
  await reload(host);
  expect(await eventually(() => host.listChanges === 1)).toBe(true);
  expect(await host.toolNames()).toEqual(['a_suite', 'c_suite']);
  expect(await pidOf(host)).toBe(a);
  expect(await eventually(() => !isAlive(b))).toBe(true);
  expect(textOf(await host.call('c', 'echo', { c: 1 }))).toBe('{"c":1}');
  expect((await host.call('b', 'echo')).error?.message).toContain('Unknown tool');
});

test('a redeclared server restarts, and one that is only shown differently keeps running', async () => {
  const project = createProject();
  configure(project, { mcpServers: { a: toolbox, b: toolbox } });
  const host = await RawHost.connect(project);
  const [a, b] = [await pidOf(host), await pidOf(host, 'b')];
  configure(project, {
    mcpServers: { a: { ...toolbox, env: { NEW: '1' } }, b: { ...toolbox, show: 'direct' } },
  });
  await reload(host);
  expect(await pidOf(host)).not.toBe(a);
  expect(await eventually(() => !isAlive(a))).toBe(true);
  expect(await pidOf(host, 'b')).toBe(b);
  await eventually(() => host.listChanges > 0);
  expect(await host.toolNames()).toContain('where_am_i');
});

test('the host message limit is updated', async () => {
  const project = createProject();
  const limited = (messageBytes: number) => ({
    mcpServers: { a: toolbox },
    limits: { messageBytes },
  });
  configure(project, limited(1 << 20));
  const host = await RawHost.connect(project);
  const large = 'x'.repeat(50_000);
  expect((await host.call('a', 'echo', { large })).error).toBeUndefined();
  configure(project, limited(20_000));
  await reload(host);
  expect((await host.call('a', 'echo', { large })).error?.message).toContain('the limit is 20000');
  configure(project, limited(1 << 20));
  await reload(host);
  expect((await host.call('a', 'echo', { large })).error).toBeUndefined();
});

test('a call in flight is answered, even if its server was removed', async () => {
  const project = createProject();
  configure(project, { mcpServers: { a: toolbox } });
  const host = await RawHost.connect(project);
  const pid = await pidOf(host);
  const call = host.call('a', 'wait', { ms: 1_500 });
  await host.request('ping');
  configure(project, { mcpServers: {} });
  await reload(host);
  expect(textOf(await call)).toBe('waited 1500 ms');
  expect(await eventually(() => !isAlive(pid))).toBe(true);
});

test('an unreadable configuration changes nothing', async () => {
  const project = createProject();
  configure(project, { mcpServers: { a: toolbox } });
  const host = await RawHost.connect(project);
  const pid = await pidOf(host);
  for (const broken of ['{ "mcpServers": ', '{ "mcpServer": {} }']) {
    configure(project, broken);
    await reload(host, 'keeping the previous one');
    expect(await pidOf(host)).toBe(pid);
  }
  expect(host.listChanges).toBe(0);
});

test('switched-on servers stay on, unless they can no longer be switched', async () => {
  const project = createProject();
  const flip = { ...toolbox, show: 'flip' };
  configure(project, { mcpServers: { a: flip, b: flip } });
  const host = await RawHost.connect(project, { client: 'codex-mcp-client' });
  const on = async (name: string) => {
    const answered = async () => textOf(await host.callTool('gateway_activate', { name }));
    while ((await answered()).includes('warming'))
      await new Promise((resolve) => setTimeout(resolve, 50));
  };
  await on('a');
  await on('b');
  configure(project, { mcpServers: { a: { ...toolbox, show: 'flip', description: 'x' } } });
  await reload(host);
  const status = textOf(await host.callTool('gateway_status'));
  expect(status).toBe('▶ a: active (7 tools)');
  expect(await host.toolNames()).toContain('echo');
});

test('a new eager server is started at once', async () => {
  const project = createProject();
  configure(project, { mcpServers: {} });
  const host = await RawHost.connect(project);
  project.write('.switchboard/servers.json', { late: toolbox });
  await reload(host);
  const status = async () => textOf(await host.callTool('gateway_status'));
  await expect.poll(status).toBe('● late: ready (7 tools)');
});
