// `switchboard status` and `switchboard reload` with the program itself running.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { eventually } from '../support/processes.ts';
import { createProject, type Project } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const toolbox = testServer('toolbox');
const runFolder = (project: Project) => join(project.env['HOME'] ?? '', '.switchboard/run');
const endpoints = (project: Project) =>
  existsSync(runFolder(project))
    ? readdirSync(runFolder(project)).filter((file) => file.endsWith('.endpoint'))
    : [];

interface Overview {
  readonly running: {
    readonly pid: number;
    readonly project: string;
    readonly sessions: { client: string; revision: string; active: string[] }[];
    readonly children: Record<string, unknown>[];
  }[];
}

async function statusOf(project: Project): Promise<Overview> {
  const { stdout, status } = await runSwitchboard(project, ['status', '--json']);
  expect(status).toBe(0);
  return JSON.parse(stdout) as Overview;
}

async function connect(project: Project): Promise<RawHost> {
  const host = await RawHost.connect(project, { client: 'some-host' });
  expect(await eventually(() => endpoints(project).length === 1)).toBe(true);
  return host;
}

test('shows the running program’s servers', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: {
        used: toolbox,
        unused: toolbox,
        crashed: toolbox,
        hidden: { ...toolbox, show: 'off' },
        switched: { ...toolbox, show: 'flip' },
      },
    },
  });
  const host = await connect(project);
  await host.call('used', 'echo');
  await host.call('used', 'echo');
  const { pid } = JSON.parse(textOf(await host.call('used', 'where_am_i'))) as { pid: number };
  await host.call('crashed', 'exit', { code: 4 });
  while (textOf(await host.callTool('gateway_activate', { name: 'switched' })).includes('warming'))
    await new Promise((resolve) => setTimeout(resolve, 50));

  const { running } = await statusOf(project);
  expect(running).toHaveLength(1);
  expect(running[0]).toMatchObject({
    pid: host.process.pid,
    project: project.dir,
    sessions: [{ client: 'some-host', revision: '2025-11-25', active: ['switched'] }],
  });
  const [used, unused, crashed, hidden, switched] = running[0]?.children ?? [];
  expect(used).toMatchObject({ name: 'used', state: 'ready', show: 'suite', pid, calls: 3 });
  expect(used?.['memoryBytes']).toBeGreaterThan(1e6);
  expect(used?.['uptimeMs']).toBeGreaterThan(0);
  expect(unused).toMatchObject({ name: 'unused', state: 'idle', calls: 0 });
  expect(crashed).toMatchObject({
    state: 'error',
    calls: 1,
    lastError: expect.stringContaining('exited with code 4') as string,
  });
  expect(hidden).toMatchObject({ state: 'off', show: 'off' });
  expect(switched).toMatchObject({ state: 'active', show: 'flip', tools: 7 });

  const { stdout } = await runSwitchboard(project, ['status']);
  expect(stdout).toContain('some-host');
  expect(stdout).toMatch(/switched\s+▶ active/);
});

test('without a running program, the catalog still knows the tools', async () => {
  const project = createProject({ 'switchboard.config.json': { mcpServers: { box: toolbox } } });
  const host = await connect(project);
  await host.introspect('box');
  await host.close();
  expect(endpoints(project)).toEqual([]);
  const { stdout } = await runSwitchboard(project, ['status', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({
    running: [],
    configured: { children: [{ name: 'box', state: 'idle', tools: 7 }] },
  });
});

test('reload makes the running program read its configuration again', async () => {
  const project = createProject({ 'switchboard.config.json': { mcpServers: { one: toolbox } } });
  const host = await connect(project);
  project.write('switchboard.config.json', { mcpServers: { two: toolbox } });
  const good = await runSwitchboard(project, ['reload']);
  expect(good).toMatchObject({ status: 0 });
  expect(await host.toolNames()).toEqual(['two_suite']);

  project.write('switchboard.config.json', '{ "mcpServers": ');
  const bad = await runSwitchboard(project, ['reload']);
  expect(bad.status).toBe(2);
  expect(bad.stdout + bad.stderr).toContain('Invalid JSON');
  expect(await host.toolNames()).toEqual(['two_suite']);
});

test.each(['SIGTERM', 'SIGINT', 'end of input'] as const)(
  'nothing of the endpoint is left after %s',
  async (end) => {
    const project = createProject({ 'switchboard.config.json': { mcpServers: { box: toolbox } } });
    const host = await connect(project);
    if (end === 'end of input') host.process.stdin?.end();
    else host.process.kill(end);
    await host.exited;
    expect(readdirSync(runFolder(project))).toEqual([]);
  },
);
