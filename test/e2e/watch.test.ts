// Changes to configuration files reach running sessions by themselves: in the background process, and alone.
import { expect, test } from 'vitest';
import { createSharedProject } from '../support/background.ts';
import { eventually } from '../support/processes.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const toolbox = testServer('toolbox');
const WATCHED = { env: { SWITCHBOARD_WATCH: '' } };

const pidOf = async (host: RawHost) =>
  (JSON.parse(textOf(await host.call('a', 'where_am_i'))) as { pid: number }).pid;

test('every session applies a change, is told once, and keeps its other servers', async () => {
  const project = createSharedProject({ a: toolbox, b: toolbox });
  const hosts = [
    await RawHost.connect(project, WATCHED),
    await RawHost.connect(project, WATCHED),
    await RawHost.connect(project, { ...WATCHED, args: ['--alone'] }),
  ];
  const before = await Promise.all(hosts.map(pidOf));
  expect(new Set(before).size).toBe(2);
  project.write('switchboard.config.json', { mcpServers: { a: toolbox, c: toolbox } });
  for (const host of hosts) {
    await expect.poll(() => host.toolNames()).toEqual(['a_suite', 'c_suite']);
    expect(await eventually(() => host.listChanges === 1)).toBe(true);
    expect(host.stderr).toContain('because files have changed');
  }
  expect(await Promise.all(hosts.map(pidOf))).toEqual(before);

  project.write('switchboard.config.json', '{ "mcpServers": ');
  for (const host of hosts) {
    await expect.poll(() => host.stderr).toContain('keeping the previous one');
  }
  project.write('switchboard.config.json', { mcpServers: { a: toolbox } });
  for (const host of hosts) {
    await expect.poll(() => host.toolNames()).toEqual(['a_suite']);
    expect(host.stderr.split('keeping the previous one')).toHaveLength(2);
    expect(await eventually(() => host.listChanges === 2)).toBe(true);
  }
  expect(await Promise.all(hosts.map(pidOf))).toEqual(before);
});
