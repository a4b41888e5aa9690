import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RunNote, stopOrphans } from '../../../src/base/orphans.ts';
import { signalGroup, spawnGroup } from '../../../src/base/process.ts';
import { processPlace } from '../../../src/base/process-table.ts';
import { temporaryFolder } from '../../support/fake-child.ts';

async function startGroup(script: string, mark: Record<string, string> = {}) {
  const { execPath: cmd } = process;
  const env = { ...process.env, ...mark };
  const child = await spawnGroup({ cmd, args: ['-e', script], cwd: temporaryFolder(), env });
  const pid = child.pid ?? 0;
  onTestFinished(() => signalGroup(pid, 'SIGKILL'));
  const ready = once(child.stdout ?? child, 'data');
  return { pid, ready, exited: once(child, 'exit') as Promise<[number | null, string | null]> };
}

/** A run that is over and has left a process behind, which heeds SIGTERM or does not. */
async function leaveBehind(folder: string, script: string) {
  const owner = await startGroup('');
  await owner.exited;
  const id = `${owner.pid}-abc-${Math.random().toString(36).slice(2)}`;
  const left = await startGroup(script, { SWITCHBOARD_RUN: id });
  await left.ready;
  mkdirSync(folder, { recursive: true });
  const note = { start: 'long ago', place: processPlace(), groups: [left.pid] };
  writeFileSync(join(folder, id), JSON.stringify(note));
  return left;
}

function notedIn(folder: string): number[] {
  const [name = ''] = readdirSync(folder);
  return (JSON.parse(readFileSync(join(folder, name), 'utf8')) as { groups: number[] }).groups;
}

test('a run notes its groups, and forgets those that are gone', async () => {
  const folder = join(temporaryFolder(), 'run');
  const note = new RunNote(folder);
  const short = await startGroup('');
  await note.add(short.pid);
  expect(notedIn(folder)).toEqual([short.pid]);
  await short.exited;
  const [one, other] = [await startGroup(STAYS), await startGroup(STAYS)];
  await note.add(one.pid);
  await note.add(other.pid);
  expect(notedIn(folder)).toEqual([one.pid, other.pid]);
  note.remove();
  expect(readdirSync(folder)).toEqual([]);
});

test('leftovers get SIGTERM, and the wait ends when they exit', async () => {
  const folder = join(temporaryFolder(), 'run');
  const left = [await leaveBehind(folder, STAYS), await leaveBehind(folder, STAYS)];
  expect(await stopOrphans(folder, 600_000)).toBe(2);
  for (const { exited } of left) expect(await exited).toEqual([null, 'SIGTERM']);
  expect(readdirSync(folder)).toEqual([]);
});

test('leftovers that ignore it are killed, without delaying others', async () => {
  const folder = join(temporaryFolder(), 'run');
  const stubborn = [await leaveBehind(folder, STUBBORN), await leaveBehind(folder, STUBBORN)];
  expect(await stopOrphans(folder, 50)).toBe(2);
  for (const { exited } of stubborn) expect(await exited).toEqual([null, 'SIGKILL']);
});

const STAYS = 'setInterval(() => {}, 60_000); console.log(1)';
const STUBBORN = `process.on('SIGTERM', () => {}); ${STAYS}`;
