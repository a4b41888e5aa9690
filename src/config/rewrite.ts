// Changes a file that is somebody's own: whole or not at all, and never over a change that was made
// meanwhile. The new text is written beside the file and then put in its place. Only one program at
// a time can have created the file beside it, which makes that the lock, too.
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { shortDigest } from '../base/digest.ts';
import { SwitchboardError } from '../base/errors.ts';

export interface RewriteOptions {
  /** The folder in which the text that is replaced is kept. */
  readonly backups: string;
  /** Of a file that is created, less what the user's mask takes away. */
  readonly mode: number;
}

export interface Rewritten {
  readonly isChanged: boolean;
  /** The file with the text as it was; undefined where nothing was replaced. */
  readonly backup: string | undefined;
}

/** Whoever has the lock needs it for a moment only. */
const LOCK_WAIT_MS = 5_000;
const LOCK_TRY_MS = 20;
/** So many earlier texts are kept of each file. */
const MOST_BACKUPS = 20;

/** `edit` gets the text, undefined where there is no file, and gives the text that it shall be. */
export async function rewriteFile(
  file: string,
  edit: (text: string | undefined) => Promise<string>,
  { backups, mode }: RewriteOptions,
): Promise<Rewritten> {
  const target = followLinks(file);
  const unfinished = `${target}.new`;
  attempt(target, () => mkdirSync(dirname(target), { recursive: true, mode: 0o700 }));
  await lock(target, unfinished, mode);
  let isLocked = true;
  try {
    const before = readWhole(target);
    const after = await edit(before?.text);
    if (before?.text === after) return { isChanged: false, backup: undefined };
    // Before there is anything in it to read.
    if (before) copyRights(before.stats, unfinished);
    attempt(target, () => writeFileSync(unfinished, after, { flush: true }));
    const backup = before && keepBackup(target, before.bytes, backups);
    // As late as can be: an editor knows nothing of our lock.
    if (!isSame(readWhole(target)?.bytes, before?.bytes)) throw changedMeanwhile(target);
    attempt(target, () => renameSync(unfinished, target));
    isLocked = false;
    return { isChanged: true, backup };
  } finally {
    if (isLocked) rmSync(unfinished, { force: true });
  }
}

/** The file itself, there or not: a link to it shall stay one. */
function followLinks(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    const next = hasCode(error, 'ENOENT') ? linkIn(file) : undefined;
    return next === undefined ? file : followLinks(next);
  }
}

function linkIn(file: string): string | undefined {
  try {
    return resolve(dirname(file), readlinkSync(file));
  } catch {
    return undefined; // no link
  }
}

async function lock(target: string, unfinished: string, mode: number): Promise<void> {
  const end = performance.now() + LOCK_WAIT_MS;
  while (!attempt(target, () => createFile(unfinished, mode))) {
    if (performance.now() > end) throw locked(target, unfinished);
    await new Promise((proceed) => setTimeout(proceed, LOCK_TRY_MS));
  }
}

/** Whether it could be created: false where there is one. */
function createFile(file: string, mode: number): boolean {
  try {
    writeFileSync(file, '', { flag: 'wx', mode });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

function readWhole(file: string) {
  try {
    const bytes = readFileSync(file);
    const text = bytes.toString();
    if (!Buffer.from(text).equals(bytes)) throw notText(file);
    return { bytes, text, stats: statSync(file) };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    return attempt(file, () => {
      throw error;
    });
  }
}

function copyRights({ mode, uid, gid }: Stats, file: string): void {
  attempt(file, () => chmodSync(file, mode & 0o7777));
  try {
    chownSync(file, uid, gid);
  } catch {
    // Only an administrator can give a file to others, and nobody else has to.
  }
}

function keepBackup(file: string, bytes: Buffer, folder: string): string {
  // Files of many projects have this name; the digest is that of the path.
  const prefix = `${basename(file)}.${shortDigest(file)}.`;
  const time = new Date().toISOString().replaceAll(':', '-');
  const backup = join(folder, `${prefix}${time}.${process.pid}`);
  attempt(backup, () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(backup, bytes, { mode: 0o600 });
    const kept = readdirSync(folder).filter((name) => name.startsWith(prefix));
    const outdated = kept.sort().slice(0, -MOST_BACKUPS);
    for (const name of outdated) rmSync(join(folder, name), { force: true });
  });
  return backup;
}

function isSame(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** What the system refuses is no bug of ours. */
function attempt<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof Error) || !('syscall' in cause)) throw cause;
    throw new SwitchboardError('CONFIG_NOT_CHANGED', `${file} cannot be written.`, {
      hint: `The system says: ${cause.message}.`,
      cause,
      data: { file },
    });
  }
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

function locked(file: string, unfinished: string): SwitchboardError {
  return new SwitchboardError(
    'CONFIG_NOT_CHANGED',
    `${file} is being written by another program.`,
    {
      hint: `If none is at it, one was killed at that: remove ${unfinished}.`,
      data: { file },
    },
  );
}
