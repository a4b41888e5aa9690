// Changes to the user's files. A file is replaced whole or not at all, what was in it is kept where it
// may be the user's own work, and a dry run tells the same story without doing anything.
import { lstatSync, readFileSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { backupPath, keepBackup } from '../base/backup.ts';
import { SwitchboardError } from '../base/errors.ts';
import { makeFolder } from '../base/make-folder.ts';
import { codeOf, isSystemError } from '../base/system-error.ts';
import { DanglingLink, followLinks, writeWhole } from '../base/whole-file.ts';

export interface Change {
  readonly action: 'backup' | 'copy' | 'create' | 'link' | 'remove' | 'write';
  readonly path: string;
  /** What a link leads to; where a backup is. */
  readonly to?: string;
}

/** What is done, in order; in a dry run, what would be. */
export class Work {
  readonly changes: Change[] = [];
  readonly isDry: boolean;

  constructor({ dryRun }: { readonly dryRun: boolean }) {
    this.isDry = dryRun;
  }

  perform(change: Change, act: () => void): void {
    if (!this.isDry) explainFailure(change.path, act);
    this.changes.push(change);
  }

  write(file: string, text: string): void {
    this.perform({ action: 'write', path: file }, () => writeText(file, text));
  }

  /** Keeps a copy of a file in a folder. */
  backUp(file: string, folder: string): void {
    const place = { file, folder };
    const to = this.isDry
      ? backupPath(place)
      : explainFailure(file, () => keepBackup(readFileSync(file), place));
    this.changes.push({ action: 'backup', path: file, to });
  }
}

export function readIfThere(file: string): string | undefined {
  return explainFailure(file, () => {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (!stats) return undefined;
    // A pipe would make us wait for ever.
    if (!stats.isFile()) throw notAFile(file);
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  });
}

function notAFile(path: string): SwitchboardError {
  return new SwitchboardError('INSTALL_FAILED', `${path} is not a file.`, {
    hint: 'Move what is there out of the way. Nothing was changed.',
  });
}

/** What stands at a path, without following it where it is a link. */
export function entryAt(path: string): Stats | undefined {
  return explainFailure(path, () => lstatSync(path, { throwIfNoEntry: false }));
}

/** A link stays one: people keep such files elsewhere. */
export function writeText(file: string, text: string): void {
  const target = followLinks(file);
  makeFolder(dirname(target));
  const like = statSync(target, { throwIfNoEntry: false });
  writeWhole(target, text, { mode: 0o600, like });
}

/** What the operating system refuses is the user's to mend; anything else is a bug, and thrown on. */
export function explainFailure<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof DanglingLink) {
      throw new SwitchboardError('INSTALL_FAILED', `${cause.message}.`, {
        hint: 'Create that file, or remove the link.',
        cause,
      });
    }
    if (!isSystemError(cause)) throw cause;
    throw new SwitchboardError('INSTALL_FAILED', `${path} cannot be read or written.`, {
      hint: `The system says: ${cause.message}.`,
      cause,
    });
  }
}
