// Replaces files atomically: writes the new content next to the file and renames it, so that readers see
// either version, even if we are killed in between.
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

export interface AtomicFileOptions {
  /** The file's mode, before the umask. */
  readonly mode: number;
  /** The replaced file: the new one gets its owner and mode instead. */
  readonly like?: Stats | undefined;
  /** False if the file is worthless after a power failure, so it needn't be on the disk at once. */
  readonly isDurable?: boolean;
  /** Called right before the rename. If it throws, nothing changes. */
  readonly beforeReplacing?: (() => void) | undefined;
}

/** The folder must exist. Throws the system's errors; the old file is then intact. */
export function writeAtomically(
  file: string,
  content: string | Uint8Array,
  { mode, like, isDurable = true, beforeReplacing }: AtomicFileOptions,
): void {
  const unfinished = unfinishedName(file);
  try {
    const descriptor = openSync(unfinished, 'wx', like ? 0o600 : mode);
    try {
      if (like) copyRights(like, unfinished); // while it is still empty
      writeFileSync(descriptor, content);
      if (isDurable) fsyncSync(descriptor);
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

/** For caches, which can be rebuilt: doesn't block, and doesn't wait for the disk. */
export async function writeCacheFile(file: string, content: string): Promise<void> {
  // Lazy: loading it takes milliseconds, and nothing else needs it at the start.
  const { rename, rm, writeFile } = process.getBuiltinModule('node:fs/promises');
  const unfinished = unfinishedName(file);
  try {
    await writeFile(unfinished, content, { mode: 0o600, flag: 'wx' });
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {}); // the disk may not be writable
    throw error;
  }
}

/** A unique name next to the file; processes in two containers may have the same pid. */
export function unfinishedName(file: string): string {
  return `${file}.${process.pid}-${Math.random().toString(36).slice(2)}.new`;
}

/**
 * The file that a link points to, whether it exists or not, so that the link is preserved. Throws a
 * `DanglingLink` for a broken link: its author, such as a project, would choose where we create a file.
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

/** The target of a link; undefined for anything else. */
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
    // Only root can change the owner. The permissions for group and others were meant for another group, so
    // they are dropped.
    chmodSync(file, mode & 0o700);
    return;
  }
  chmodSync(file, mode & 0o7777); // after chown, which clears some bits
}
