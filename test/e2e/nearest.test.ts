// Started in a subfolder of a project, Switchboard finds nothing, and says where the project's
// configuration is.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { configWith, createProject } from '../support/project.ts';
import { RawHost } from '../support/raw-host.ts';
import { MOCK_CHILD } from '../support/servers.ts';

function createSubfolder() {
  const project = createProject(configWith({ one: MOCK_CHILD }));
  const below = { ...project, dir: join(project.dir, 'src/deep') };
  mkdirSync(below.dir, { recursive: true });
  const says = `The nearest configuration is ${join(project.dir, 'switchboard.config.json')}. To use it, start Switchboard in ${project.dir} or set WORKSPACE_DIR=${project.dir}.`;
  return { below, says };
}

test.each([
  [['tools']],
  [['--dry-run']],
  [['show']],
  [['status']],
  [['doctor']],
  [['config', 'check']],
  [['assistant']],
])('%j mentions it', async (args) => {
  const { below, says } = createSubfolder();
  const { status, stdout } = await runSwitchboard(below, args);
  expect({ status, isTold: stdout.includes(says) }).toEqual({ status: 0, isTold: true });
});

test.each([[['tools', 'one']], [['call', 'one', 'click']], [['doctor', 'one']], [['show', 'one']]])(
  '%j mentions it in its error',
  async (args) => {
    const { below, says } = createSubfolder();
    const { status, stderr } = await runSwitchboard(below, args);
    expect({ status, isTold: stderr.includes(says) }).toEqual({ status: 2, isTold: true });
  },
);

test('serving mentions it on stderr, and uses none of it', async () => {
  const { below, says } = createSubfolder();
  const host = await RawHost.connect(below);
  expect((await host.request('tools/list')).result).toEqual({ tools: [] });
  expect(await host.lastWords()).toBe(
    `switchboard: warn: No servers are configured in ${below.dir}. ${says}\n`,
  );
});
