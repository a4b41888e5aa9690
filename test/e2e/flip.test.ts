// One server switched on and off. `unit/surface/board` tests the details with a fake server, `flip-in-full` with real
// ones.
import { expect, test } from 'vitest';
import { activate, deactivate, GATEWAY, pidOf, reaches } from '../support/gateway.ts';
import { eventually } from '../support/processes.ts';
import { createProject } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

test('a server is warmed up silently, listed while it is on, and keeps running', async () => {
  const project = createProject({ '.switchboard/servers.json': { box: testServer('toolbox') } });
  const host = await RawHost.connect(project);
  expect(await host.toolNames()).toEqual(GATEWAY);
  await reaches(host, 'box', 'ready');
  expect(host.listChanges).toBe(0);

  expect(textOf(await activate(host, 'box'))).toContain('Activated "box"');
  await eventually(() => host.listChanges === 1);
  expect(await host.toolNames()).toEqual(expect.arrayContaining([...GATEWAY, 'echo', 'fail']));
  expect(textOf(await host.callTool('echo', { a: 1 }))).toBe('{"a":1}');
  const pid = await pidOf(host);

  await deactivate(host, 'box');
  expect(await host.toolNames()).toEqual(GATEWAY);
  await activate(host, 'box');
  expect(await pidOf(host)).toBe(pid);
});
