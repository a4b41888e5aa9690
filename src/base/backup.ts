// Earlier texts of the user's files, kept in one folder: the last few of each file, under a name that
// tells which file it was and when.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { shortDigest } from './digest.ts';
import { makeFolder } from './make-folder.ts';
import { codeOf } from './system-error.ts';

export interface BackupPlace {
  /** The file that the text is from. */
  readonly file: string;
  /** What it is called, if not as the file is. */
  readonly name?: string;
  readonly folder: string;
}

/** So many earlier texts are kept of each file. */
const MOST_BACKUPS = 20;

/** Keeps a text, readable by its user alone; gives where. Throws what the system says. */
export function keepBackup(content: string | Uint8Array, place: BackupPlace): string {
  const { folder } = place;
  makeFolder(folder);
  const backup = writeNew(backupPath(place), content);
  const outdated = namesOf(place).slice(0, -MOST_BACKUPS);
  for (const name of outdated) rmSync(join(folder, name), { force: true });
  return backup;
}

/** The earlier texts of a file, the last one first. */
export function readBackups(place: BackupPlace): Buffer[] {
  try {
    return namesOf(place)
      .toReversed()
      .map((name) => readFileSync(join(place.folder, name)));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []; // nothing was ever kept
    throw error;
  }
}

/** Oldest first: names end with the time. */
function namesOf(place: BackupPlace): string[] {
  return readdirSync(place.folder)
    .filter((name) => name.startsWith(prefixOf(place)))
    .sort();
}

/** Where a text would be kept now. */
export function backupPath(place: BackupPlace): string {
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-');
  return join(place.folder, `${prefixOf(place)}${time}`);
}

/** Files of many projects have the same name; the digest is that of the path. */
function prefixOf({ file, name = basename(file) }: BackupPlace): string {
  return `${name}.${shortDigest(file)}.`;
}

/** Several in one millisecond are numbered. */
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
