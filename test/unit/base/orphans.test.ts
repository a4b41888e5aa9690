import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RunNote } from '../../../src/base/orphans.ts';
import { signalGroup, spawnGroup } from '../../../src/base/process.ts';
import { temporaryFolder } from '../../support/fake-child.ts';

async function startGroup(script: string) {
  const { execPath: cmd, env } = process;
  const child = await spawnGroup({ cmd, args: ['-e', script], cwd: temporaryFolder(), env });
  const pid = child.pid ?? 0;
  onTestFinished(() => signalGroup(pid, 'SIGKILL'));
  return { pid, exited: once(child, 'exit') };
}

function notedIn(folder: string): number[] {
  const [name = ''] = readdirSync(folder);
  return (JSON.parse(readFileSync(join(folder, name), 'utf8')) as { groups: number[] }).groups;
}

test('a run notes the groups that it has, and forgets those that are gone', async () => {
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

const STAYS = 'setInterval(() => {}, 60_000)';
