// One suite from the first list to the exit of its server. `unit/surface/suites` tests the details with a fake server,
// `suites-in-full` with real ones.
import { expect, test } from 'vitest';
import { eventually, isAlive } from '../support/processes.ts';
import { configWith, createProject } from '../support/project.ts';
import { RawHost, textOf, toolsOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

test('a suite is listed without a start, introspected, called, and stopped with the session', async () => {
  const project = createProject(
    configWith({ box: { ...testServer('toolbox'), expose: { deny: ['exit'] } } }),
  );
  const host = await RawHost.connect(project);
  const before = await host.request('tools/list');
  expect(before.result?.['tools']).toMatchObject([{ name: 'box_suite', title: 'box' }]);

  const names = toolsOf(await host.introspect('box')).map(({ name }) => name);
  expect(names).toContain('echo');
  expect(names).not.toContain('exit');
  expect(textOf(await host.call('box', 'echo', { a: 1 }))).toBe('{"a":1}');
  expect(textOf(await host.call('box', 'exit'))).toContain("Subtool 'exit' not allowed");
  expect(await host.request('tools/list')).toMatchObject({ result: before.result });

  const { pid } = JSON.parse(textOf(await host.call('box', 'where_am_i'))) as { pid: number };
  await host.close();
  await eventually(() => !isAlive(pid));
});
