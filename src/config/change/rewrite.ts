// Edits a user's file atomically and under a lock. Never overwrites a change made in the meantime by a program that
// doesn't use the lock, such as an editor.
import { readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DanglingLink, followLinks, writeAtomically } from '../../base/atomic-file.ts';
import { backupPath, keepBackup } from '../../base/backup.ts';
import { shortDigest } from '../../base/digest.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { LockedError, withLockFile } from '../../base/lock.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { codeOf, isSystemError } from '../../base/system-error.ts';

export interface RewriteOptions {
  /** Switchboard's home, for locks and backups. */
  readonly home: string;
  /** For a new file; the user's umask applies. */
  readonly mode: number;
  /** Only report what would change. */
  readonly dryRun?: boolean | undefined;
}

export interface Rewritten {
  readonly isChanged: boolean;
  /** The backup file; undefined if nothing was replaced. */
  readonly backup: string | undefined;
  /** The file was removed. */
  readonly isRemoved?: true;
}

/** The lock is held only briefly. */
const LOCK_TIMES = { staleMs: 10_000, waitMs: 15_000 };

/** Gets the text, or undefined if there is no file. Returns the new text, or null to remove the file. */
export type Edit = (text: string | undefined) => Promise<string | undefined | null>;

export async function rewriteFile(
  file: string,
  edit: Edit,
  options: RewriteOptions,
): Promise<Rewritten> {
  const target = await explainErrors(file, async () => followLinks(file));
  if (options.dryRun) return explainErrors(target, () => previewEdit(target, edit, options));
  return whileLocked(target, options.home, () => replaceText(target, edit, options));
}

/** Keeps other Switchboard processes from changing the same file or folder at the same time. */
export async function whileLocked<T>(
  target: string,
  home: string,
  work: () => Promise<T>,
): Promise<T> {
  // Not next to the file: that folder may belong to the project.
  const locks = join(home, 'locks');
  return explainErrors(target, async () => {
    makeFolder(locks);
    return withLockFile(join(locks, shortDigest(target)), LOCK_TIMES, work);
  });
}

async function explainErrors<T>(target: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof LockedError) throw locked(target, cause);
    if (cause instanceof DanglingLink) throw brokenLink(target, cause);
    throw isSystemError(cause) ? notWritable(target, cause) : cause;
  }
}

async function previewEdit(
  target: string,
  edit: Edit,
  { home }: RewriteOptions,
): Promise<Rewritten> {
  const before = readWhole(target);
  const after = await edit(before?.text);
  if (isSameText(before?.text, after)) return { isChanged: false, backup: undefined };
  const backup = before && backupPath({ file: target, folder: join(home, 'backups') });
  return { isChanged: true, backup, ...(after === null && { isRemoved: true }) };
}

async function replaceText(
  target: string,
  edit: Edit,
  { home, mode }: RewriteOptions,
): Promise<Rewritten> {
  const before = readWhole(target);
  const after = await edit(before?.text);
  if (isSameText(before?.text, after)) return { isChanged: false, backup: undefined };
  const backup =
    before && keepBackup(before.bytes, { file: target, folder: join(home, 'backups') });
  const beforeReplacing = () => {
    if (!isSame(readWhole(target)?.bytes, before?.bytes)) throw changedMeanwhile(target);
  };
  if (typeof after !== 'string') {
    beforeReplacing();
    rmSync(target);
    return { isChanged: true, backup, isRemoved: true };
  }
  makeFolder(dirname(target));
  writeAtomically(target, after, { mode, like: before?.stats, beforeReplacing });
  return { isChanged: true, backup };
}

function readWhole(file: string) {
  try {
    const bytes = readFileSync(file);
    const text = bytes.toString();
    if (!Buffer.from(text).equals(bytes)) throw notText(file);
    return { bytes, text, stats: statSync(file) };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function isSameText(before: string | undefined, after: string | undefined | null): boolean {
  return after === undefined || after === (before ?? null);
}

function isSame(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}

function notWritable(file: string, cause: Error): SwitchboardError {
  return new SwitchboardError('CONFIG_NOT_CHANGED', `Cannot write ${file}.`, {
    hint: `${cause.message}.`,
    cause,
    data: { file },
  });
}

function brokenLink(file: string, cause: DanglingLink): SwitchboardError {
  return new SwitchboardError('CONFIG_NOT_CHANGED', `${cause.message}.`, {
    hint: 'Create the target, or remove the link.',
    cause,
    data: { file },
  });
}

function notText(file: string): SwitchboardError {
  return new SwitchboardError('CONFIG_NOT_CHANGED', `${file} is not UTF-8.`, {
    hint: 'Save it as UTF-8, then try again.',
    data: { file },
  });
}

function changedMeanwhile(file: string): SwitchboardError {
  return new SwitchboardError('CONFIG_NOT_CHANGED', `${file} was changed by another program.`, {
    hint: 'Nothing was written. Try again.',
    data: { file },
  });
}

function locked(file: string, cause: LockedError): SwitchboardError {
  return new SwitchboardError(
    'CONFIG_NOT_CHANGED',
    `${file} is locked by another Switchboard process.`,
    {
      hint: `Try again later: ${cause.message}.`,
      cause,
      data: { file },
    },
  );
}
