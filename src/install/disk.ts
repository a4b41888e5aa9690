// Changes to the user's files. A file is replaced whole or not at all, what was in it is kept where it
// may be the user's own work, and a dry run tells the same story without doing anything.
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SwitchboardError } from '../base/errors.ts';

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
    this.perform({ action: 'write', path: file }, () => writeWhole(file, text));
  }

  /** Keeps a copy of a file in a folder, under a name that tells when. */
  backUp(file: string, folder: string): void {
    const to = backupName(basename(file), folder);
    this.perform({ action: 'backup', path: file, to }, () => keep(readFileSync(file), to));
  }
}

/** Keeps a text that is in no file of its own; gives where. */
export function keepText(text: string, name: string, folder: string): string {
  const to = backupName(name, folder);
  explainFailure(to, () => keep(text, to));
  return to;
}

function backupName(name: string, folder: string): string {
  return join(folder, `${name}.${new Date().toISOString().replaceAll(/[:.]/g, '-')}`);
}

function keep(content: string | Buffer, to: string): void {
  makeFolder(dirname(to));
  writeFileSync(to, content, { mode: 0o600, flag: 'wx' });
}

export function readIfThere(file: string): string | undefined {
  return explainFailure(file, () => {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  });
}

/** What stands at a path, without following it where it is a link. */
export function entryAt(path: string): Stats | undefined {
  return explainFailure(path, () => lstatSync(path, { throwIfNoEntry: false }));
}

/** Others see the old text or the new one. A link stays one: people keep such files elsewhere. */
export function writeWhole(file: string, text: string): void {
  makeFolder(dirname(file));
  const stat = statSync(file, { throwIfNoEntry: false });
  const target = stat ? realpathSync(file) : file;
  const unfinished = unfinishedName(target);
  try {
    // Servers' entries may hold secrets.
    writeFileSync(unfinished, text, { mode: stat ? stat.mode & 0o777 : 0o600, flush: true });
    renameSync(unfinished, target);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

export function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

export function unfinishedName(file: string): string {
  return `${file}.${process.pid}.new`;
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** What the operating system refuses is the user's to mend; anything else is a bug, and thrown on. */
export function explainFailure<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    if (!(cause instanceof Error && 'syscall' in cause)) throw cause;
    throw new SwitchboardError('INSTALL_FAILED', `${path} cannot be read or written.`, {
      hint: `The system says: ${cause.message}.`,
      cause,
    });
  }
}
