// Backups of the user's files, in one folder: the last few versions of each, named after the file and the
// time.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { shortDigest } from './digest.ts';
import { makeFolder } from './make-folder.ts';
import { codeOf } from './system-error.ts';

export interface BackupPlace {
  /** The file that is backed up. */
  readonly file: string;
  /** The name of the backup, if not the file's own. */
  readonly name?: string;
  readonly folder: string;
}

/** Per file. */
const MAX_BACKUPS = 20;

/** Returns the path to the backup, which only the user can read. Throws the system's errors. */
export function keepBackup(content: string | Uint8Array, place: BackupPlace): string {
  const { folder } = place;
  makeFolder(folder);
  const backup = writeNew(backupPath(place), content);
  const outdated = namesOf(place).slice(0, -MAX_BACKUPS);
  for (const name of outdated) rmSync(join(folder, name), { force: true });
  return backup;
}

/** Newest first. */
export function readBackups(place: BackupPlace): Buffer[] {
  try {
    return namesOf(place)
      .toReversed()
      .map((name) => readFileSync(join(place.folder, name)));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []; // no backup yet
    throw error;
  }
}

/** Oldest first: the names end with the time. */
function namesOf(place: BackupPlace): string[] {
  return readdirSync(place.folder)
    .filter((name) => name.startsWith(prefixOf(place)))
    .sort();
}

export function backupPath(place: BackupPlace): string {
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-');
  return join(place.folder, `${prefixOf(place)}${time}`);
}

/** Different projects have files of the same name, so it includes a digest of the path. */
function prefixOf({ file, name = basename(file) }: BackupPlace): string {
  return `${name}.${shortDigest(file)}.`;
}

/** Numbers backups made in the same millisecond. */
function writeNew(path: string, content: string | Uint8Array): string {
  for (let number = 0; ; number++) {
    const numbered = number === 0 ? path : `${path}.${String(number).padStart(3, '0')}`;
    try {
      writeFileSync(numbered, content, { mode: 0o600, flag: 'wx' });
      return numbered;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}
