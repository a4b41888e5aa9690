// Files that are replaced whole or not at all: the new text is written beside the old one and then
// put in its place, so that others see the one or the other, also if we are killed in between.
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf } from './system-error.ts';

export interface WholeFileOptions {
  /** Of the file, less what the user's mask takes away. */
  readonly mode: number;
  /** The file that is replaced: the new one gets its owner and its mode instead. */
  readonly like?: Stats | undefined;
  /** Called as late as can be. If it throws, all stays as it was. */
  readonly beforeReplacing?: (() => void) | undefined;
}

/** The folder must be there. Throws what the system says; then the old file is still whole. */
export function writeWhole(
  file: string,
  content: string | Uint8Array,
  { mode, like, beforeReplacing }: WholeFileOptions,
): void {
  const unfinished = unfinishedName(file);
  try {
    const descriptor = openSync(unfinished, 'wx', like ? 0o600 : mode);
    try {
      if (like) copyRights(like, unfinished); // before there is anything in it to read
      writeFileSync(descriptor, content);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    beforeReplacing?.();
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** A name beside a file that nobody else uses; programs in two containers may have the same number. */
export function unfinishedName(file: string): string {
  return `${file}.${process.pid}-${Math.random().toString(36).slice(2)}.new`;
}

/**
 * The file itself, there or not: a link to it shall stay one. Throws a `DanglingLink` for a link to
 * nothing: whoever put it there, a project say, would choose where we create a file.
 */
export function followLinks(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    const target = codeOf(error) === 'ENOENT' ? targetOf(file) : undefined;
    if (target !== undefined) throw new DanglingLink(file, target);
    return file;
  }
}

export class DanglingLink extends Error {
  override readonly name = 'DanglingLink';

  constructor(link: string, target: string) {
    super(`${link} is a link to ${target}, which does not exist`);
  }
}

/** What a link leads to; undefined if it is none. */
function targetOf(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return undefined;
  }
}

function copyRights({ mode, uid, gid }: Stats, file: string): void {
  try {
    chownSync(file, uid, gid);
  } catch {
    // Only an administrator can give a file to others. What its group and the rest may do with it
    // was said of another group, and is not for ours.
    chmodSync(file, mode & 0o700);
    return;
  }
  chmodSync(file, mode & 0o7777); // after the owner: a change of that takes some of it away
}
