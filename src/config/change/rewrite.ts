// Changes a file that is somebody's own: whole or not at all, one program after the other, and never
// over a change that was made meanwhile by somebody who knows nothing of our lock, such as an editor.
import { readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { backupPath, keepBackup } from '../../base/backup.ts';
import { shortDigest } from '../../base/digest.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { LockedError, withLockFile } from '../../base/lock.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { codeOf, isSystemError } from '../../base/system-error.ts';
import { DanglingLink, followLinks, writeWhole } from '../../base/whole-file.ts';

export interface RewriteOptions {
  /** Switchboard's own folder: for locks, and in `backups` for the text that is replaced. */
  readonly home: string;
  /** Of a file that is created, less what the user's mask takes away. */
  readonly mode: number;
  /** Only say what would be done. */
  readonly dryRun?: boolean | undefined;
}

export interface Rewritten {
  readonly isChanged: boolean;
  /** The file with the text as it was; undefined where nothing was replaced. */
  readonly backup: string | undefined;
  /** There is no such file any more. */
  readonly isRemoved?: true;
}

/** Whoever has the lock needs it for a moment only. */
const LOCK_TIMES = { staleMs: 10_000, waitMs: 15_000 };

/**
 * Gets the text, undefined where there is no file; gives what it shall be, or the same again. With
 * null there shall be no file.
 */
export type Edit = (text: string | undefined) => Promise<string | undefined | null>;

export async function rewriteFile(
  file: string,
  edit: Edit,
  options: RewriteOptions,
): Promise<Rewritten> {
  const target = await explained(file, async () => followLinks(file));
  if (options.dryRun) return explained(target, () => rehearse(target, edit, options));
  return whileLocked(target, options.home, () => replaceText(target, edit, options));
}

/** Does the work on a file or folder while no other Switchboard does any on the same. */
export async function whileLocked<T>(
  target: string,
  home: string,
  work: () => Promise<T>,
): Promise<T> {
  // Not beside the file: what lies there may have come with the project.
  const locks = join(home, 'locks');
  return explained(target, async () => {
    makeFolder(locks);
    return withLockFile(join(locks, shortDigest(target)), LOCK_TIMES, work);
  });
}

async function explained<T>(target: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof LockedError) throw locked(target, cause);
    if (cause instanceof DanglingLink) throw leadsNowhere(target, cause);
    throw isSystemError(cause) ? notWritable(target, cause) : cause;
  }
}

async function rehearse(target: string, edit: Edit, { home }: RewriteOptions): Promise<Rewritten> {
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
  writeWhole(target, after, { mode, like: before?.stats, beforeReplacing });
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
  return new SwitchboardError('CONFIG_NOT_CHANGED', `${file} cannot be written.`, {
    hint: `The system says: ${cause.message}.`,
    cause,
    data: { file },
  });
}

function leadsNowhere(file: string, cause: DanglingLink): SwitchboardError {
  return new SwitchboardError('CONFIG_NOT_CHANGED', `${cause.message}.`, {
    hint: 'Create that file, or remove the link.',
    cause,
    data: { file },
  });
}

function notText(file: string): SwitchboardError {
  return new SwitchboardError('CONFIG_NOT_CHANGED', `${file} is not in UTF-8.`, {
    hint: 'Save it as UTF-8 first.',
    data: { file },
  });
}

function changedMeanwhile(file: string): SwitchboardError {
  return new SwitchboardError('CONFIG_NOT_CHANGED', `${file} was changed by somebody else.`, {
    hint: 'That change is kept, and ours was not written. Try again.',
    data: { file },
  });
}

function locked(file: string, cause: LockedError): SwitchboardError {
  return new SwitchboardError(
    'CONFIG_NOT_CHANGED',
    `${file} is being written by another program.`,
    { hint: `Try again later: ${cause.message}.`, cause, data: { file } },
  );
}
