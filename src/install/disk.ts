// Changes to the user's files. Files are replaced atomically, content that may be the user's own work is backed up, and a
// dry run reports the same changes without making them.
import { lstatSync, readFileSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DanglingLink, followLinks, writeAtomically } from '../base/atomic-file.ts';
import { backupPath, keepBackup } from '../base/backup.ts';
import { SwitchboardError } from '../base/errors.ts';
import { makeFolder } from '../base/make-folder.ts';
import { codeOf, isSystemError } from '../base/system-error.ts';

export interface Change {
  readonly action: 'backup' | 'copy' | 'create' | 'link' | 'remove' | 'write';
  readonly path: string;
  /** The target of a link, or the location of a backup. */
  readonly to?: string;
}

/** Makes changes and records them; a dry run only records them. */
export class DiskWork {
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

  /** Copies a file to the backup folder. */
  backUp(file: string, folder: string): void {
    const place = { file, folder };
    const to = this.isDry
      ? backupPath(place)
      : explainFailure(file, () => keepBackup(readFileSync(file), place));
    this.changes.push({ action: 'backup', path: file, to });
  }
}

export function readIfExists(file: string): string | undefined {
  return explainFailure(file, () => {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (!stats) return undefined;
    // Reading a pipe would hang.
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
    hint: 'Nothing was changed. Move or remove it, then try again.',
  });
}

/** Doesn't follow links. */
export function entryAt(path: string): Stats | undefined {
  return explainFailure(path, () => lstatSync(path, { throwIfNoEntry: false }));
}

/** Writes to the target of a link, because users keep such files elsewhere. */
export function writeText(file: string, text: string): void {
  const target = followLinks(file);
  makeFolder(dirname(target));
  const like = statSync(target, { throwIfNoEntry: false });
  writeAtomically(target, text, { mode: 0o600, like });
}

/** Explains errors from the operating system; anything else is a bug and is rethrown. */
export function explainFailure<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof DanglingLink) {
      throw new SwitchboardError('INSTALL_FAILED', `${cause.message}.`, {
        hint: 'Create the target, or remove the link.',
        cause,
      });
    }
    if (!isSystemError(cause)) throw cause;
    throw new SwitchboardError('INSTALL_FAILED', `Cannot read or write ${path}.`, {
      hint: `${cause.message}.`,
      cause,
    });
  }
}
