// Memory of process groups, against real processes.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { signalGroup, spawnGroup } from '../../../src/base/process.ts';
import { groupMemory } from '../../../src/base/process-table.ts';

const MEGABYTE = 1_000_000;
/** Holds so many megabytes, touched so that they are resident, and says so. */
const HOLD = (megabytes: number) =>
  `globalThis.held = Buffer.alloc(${megabytes * MEGABYTE}, 1); console.log('held'); setInterval(() => {}, 1000);`;

/** Starts a program as a group and waits for its word. */
async function startGroup(script: string): Promise<{ child: ChildProcess; pid: number }> {
  const child = await spawnGroup({
    cmd: process.execPath,
    args: ['-e', script],
    cwd: process.cwd(),
    env: process.env,
  });
  const pid = child.pid ?? 0;
  onTestFinished(() => signalGroup(pid, 'SIGKILL'));
  if (child.stdout) await once(child.stdout, 'data');
  return { child, pid };
}

/** As `npx` does: the process that was started is small, and starts the one that matters. */
const withGrandchild = (megabytes: number) =>
  `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(HOLD(megabytes))}], { stdio: 'inherit' });`;

test('sums the processes of a group, and no others', async () => {
  const { pid: small } = await startGroup(HOLD(1));
  const { pid: large } = await startGroup(withGrandchild(200));
  const memory = await groupMemory([small, large]);
  expect(new Set(memory.keys())).toEqual(new Set([small, large]));
  expect(memory.get(small)).toBeGreaterThan(10 * MEGABYTE);
  expect(memory.get(small)).toBeLessThan(200 * MEGABYTE);
  expect(memory.get(large)).toBeGreaterThan(200 * MEGABYTE);
  expect(memory.get(large)).toBeLessThan(1_000 * MEGABYTE);
});

test('a group that is gone or never existed has none', async () => {
  const { child, pid } = await startGroup(HOLD(1));
  const exited = once(child, 'exit');
  signalGroup(pid, 'SIGKILL');
  await exited;
  expect(await groupMemory([pid])).toEqual(new Map());
  expect(await groupMemory([])).toEqual(new Map());
});
