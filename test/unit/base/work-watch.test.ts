import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { signalGroup, spawnGroup } from '../../../src/base/process.ts';
import { WorkWatch } from '../../../src/base/process-table.ts';
import { temporaryFolder } from '../../support/fake-child.ts';

async function startGroup(script: string): Promise<number> {
  const { execPath: cmd, env } = process;
  const child = await spawnGroup({ cmd, args: ['-e', script], cwd: temporaryFolder(), env });
  const pid = child.pid ?? 0;
  onTestFinished(() => signalGroup(pid, 'SIGKILL'));
  await once(child.stdout ?? child, 'data');
  return pid;
}

test('distinguishes a busy process from a waiting one, even if it is not the leader', async () => {
  const waits = await startGroup('setInterval(() => {}, 60_000); console.log(1)');
  const works = await startGroup(
    `require('node:child_process').spawn(process.execPath, ['-e', 'for (;;);']); console.log(1)`,
  );
  const watch = new WorkWatch();
  // What was never seen before is taken to work.
  expect(await watch.countWorking([waits, works])).toBe(2);
  await expect.poll(() => watch.countWorking([waits, works])).toBe(1);
  await expect.poll(() => watch.countWorking([waits])).toBe(0);
  expect(await watch.countWorking([])).toBe(0);
});
