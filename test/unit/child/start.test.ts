import { realpathSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { childConfig } from '../../support/child-config.ts';
import { temporaryFolder } from '../../support/fake-child.ts';
import { startChild } from '../../support/start-child.ts';
import { startOptions } from '../../support/start-options.ts';

/** Names itself after its folder and its variables. */
const PROGRAM = `
  const { TEAM, HOST_ONLY = 'nothing', PATH } = process.env;
  process.stdin.on('data', (data) => {
    const { id } = JSON.parse(data);
    const name = [process.cwd(), TEAM, HOST_ONLY, PATH].join(' ');
    const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name } };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
`;

async function startIn(cwd: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const command = { cmd: process.execPath, args: ['-e', PROGRAM], env: { TEAM: '${TEAM_NAME}' } };
  const child = await startChild(
    childConfig({ name: 'kid', command, cwd }),
    startOptions({ env, served: { project: cwd, isShared: false } }),
  );
  onTestFinished(() => child.stop());
  return child.greeting.serverName;
}

test("a server gets its project's environment and folder, and nothing from this process", async () => {
  process.env['HOST_ONLY'] = 'ours';
  onTestFinished(() => void delete process.env['HOST_ONLY']);
  const folders = [temporaryFolder(), temporaryFolder()].map((folder) => realpathSync(folder));
  const [first = '', second = ''] = folders;

  const started = await Promise.all([
    startIn(first, { PATH: '/first', TEAM_NAME: 'red' }),
    startIn(second, { PATH: '/second', TEAM_NAME: 'blue', HOST_ONLY: 'theirs' }),
  ]);

  expect(started).toEqual([`${first} red nothing /first`, `${second} blue theirs /second`]);
});
