// A private folder for `claude` to run in, removed afterwards. If we are killed, the next run removes it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../../base/object.ts';
import { isOwnFolder } from '../../base/process.ts';
import { isAlive, listFolder, processPlace, readTextOrEmpty } from '../../base/process-table.ts';

const PREFIX = 'switchboard-assistant-';
/** Names its owner. */
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
      // a file is still open: the next run tries again
    }
  }
}

/** Not if it has no note (it's new, or not ours), or belongs to another container. */
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
