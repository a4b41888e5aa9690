// The folder that `claude` runs in: nobody else can look into it, and it goes with the run. What a run
// that was killed has left is removed by the next that makes one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../../base/object.ts';
import { isOwnFolder } from '../../base/process.ts';
import { isAlive, listFolder, processPlace, readTextOrEmpty } from '../../base/process-table.ts';

const PREFIX = 'switchboard-assistant-';
/** Says whose it is. */
const NOTE = 'run.json';

export function makeRunFolder(): string {
  removeLeftovers();
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  const note = { pid: process.pid, place: processPlace() };
  writeFileSync(join(folder, NOTE), JSON.stringify(note), { mode: 0o600, flag: 'wx' });
  return folder;
}

function removeLeftovers(): void {
  for (const name of listFolder(tmpdir())) {
    const folder = join(tmpdir(), name);
    if (!name.startsWith(PREFIX) || !isOwnFolder(folder) || !isLeft(folder)) continue;
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // somebody has a file of it open: the next one tries again
    }
  }
}

/** One without a note is being made, or is none of ours; of another container we cannot know. */
function isLeft(folder: string): boolean {
  let note: unknown;
  try {
    note = JSON.parse(readTextOrEmpty(join(folder, NOTE)));
  } catch {
    return false;
  }
  if (!isObject(note) || note['place'] !== processPlace()) return false;
  return typeof note['pid'] === 'number' && !isAlive(note['pid']);
}
