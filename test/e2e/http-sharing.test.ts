// Hosts of one Switchboard over HTTP share servers as `share` says.
import { expect, test } from 'vitest';
import { askRunning } from '../../src/host/control-client.ts';
import { eventually, isAlive, processesWith } from '../support/processes.ts';
import { configWith, createProject } from '../support/project.ts';
import { connectV1, connectV2, type HttpClient, startServing } from '../support/serve-http.ts';
import { testServer } from '../support/servers.ts';

async function pidOf(host: HttpClient, server: string): Promise<number> {
  const call = { action: 'call', subtool: 'where_am_i', args: {} };
  const { content } = await host.callTool(`${server}_suite`, call);
  const [{ text = '' } = {}] = content as { text?: string }[];
  return (JSON.parse(text) as { pid: number }).pid;
}

test('a server with "share": "session" has a process for each host, and the others have one', async () => {
  const project = createProject(
    configWith({
      ours: testServer('toolbox', 'of-all'),
      mine: { ...testServer('toolbox', 'of-one'), share: 'session' },
    }),
  );
  const serving = await startServing(project);
  const [one, two] = [await connectV1(serving), await connectV2('legacy')(serving)];
  const [ours, mine] = [await pidOf(one, 'ours'), await pidOf(one, 'mine')];
  expect(await pidOf(two, 'ours')).toBe(ours);
  const theirs = await pidOf(two, 'mine');
  expect(theirs).not.toBe(mine);
  expect(await pidOf(one, 'mine')).toBe(mine);
  expect(processesWith('of-all')).toHaveLength(1);
  expect(processesWith('of-one')).toHaveLength(2);

  const [report] = await askRunning(`${project.env['HOME']}/.switchboard`, 'status', 10_000);
  expect(report?.value).toMatchObject({
    sessions: [{ client: 'test-host' }, { client: 'test-host' }],
    children: [
      { name: 'ours', pid: ours, calls: 2, sessions: 2 },
      { name: 'mine', calls: 3 },
    ],
  });

  // A change reaches every host.
  project.write('switchboard.config.json', {
    mcpServers: {
      ours: testServer('toolbox', 'of-all'),
      mine: { ...testServer('toolbox', 'of-one'), share: 'session' },
      more: testServer('toolbox', 'more'),
    },
  });
  serving.process.kill('SIGHUP');
  for (const host of [one, two]) {
    await expect.poll(() => host.toolNames()).toContain('more_suite');
    expect(await eventually(() => host.listChanges() === 1)).toBe(true);
  }
  expect(await pidOf(one, 'mine')).toBe(mine);

  await one.terminate();
  expect(await eventually(() => !isAlive(mine))).toBe(true);
  expect(isAlive(ours)).toBe(true);
  expect(await pidOf(two, 'mine')).toBe(theirs);
  expect(await serving.stop()).toBe(0);
  expect([...processesWith('of-all'), ...processesWith('of-one')]).toEqual([]);
});
