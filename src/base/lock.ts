// One at a time, across programs. The lock is a file that says who has it, so that what a killed
// program leaves does not lock out the others: it is taken over once its owner is gone, or once it
// is older than any work under it takes.
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isObject } from './object.ts';
import { isAlive, processPlace } from './process-table.ts';
import { codeOf } from './system-error.ts';
import { sleep } from './time.ts';

export interface LockTimes {
  /** Who holds the lock for longer than this many milliseconds is gone. */
  readonly staleMs: number;
  /** How long to wait for others, in milliseconds: longer than that, so that a wait ends well. */
  readonly waitMs: number;
}

interface Owner {
  readonly pid: number;
  /** Where that number means something. */
  readonly place: string;
}

const RETRY_MS = 20;
/** Two who take over a lock at once see within this time which of them has it. */
const SETTLE_MS = 100;

/**
 * Does the work while nobody else does any under the same lock. Its folder must be there. Throws a
 * `LockedError` if others have it all the time, and what the system says where no lock can be made.
 */
export async function withLockFile<T>(
  lock: string,
  { staleMs, waitMs }: LockTimes,
  work: () => Promise<T>,
): Promise<T> {
  const owner = JSON.stringify({
    pid: process.pid,
    place: processPlace(),
    // Tells two of one program apart.
    id: Math.random().toString(36).slice(2),
  });
  const end = performance.now() + waitMs;
  while (!(await take(lock, owner, staleMs))) {
    if (performance.now() > end) throw new LockedError(lock);
    await sleep(RETRY_MS);
  }
  try {
    return await work();
  } finally {
    if (contentOf(lock) === owner) rmSync(lock, { force: true });
  }
}

export class LockedError extends Error {
  override readonly name = 'LockedError';

  constructor(lock: string) {
    super(`${lock} is held by another program`);
  }
}

async function take(lock: string, owner: string, staleMs: number): Promise<boolean> {
  try {
    writeFileSync(lock, owner, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  const found = contentOf(lock);
  if (!isStale(lock, found, staleMs)) return false;
  // Put in the place of the old one, not created after its removal: then one of two is left.
  const mine = `${lock}.${process.pid}-${Math.random().toString(36).slice(2)}`;
  writeFileSync(mine, owner, { flag: 'wx', mode: 0o600 });
  if (contentOf(lock) !== found) {
    rmSync(mine, { force: true });
    return false; // somebody was faster
  }
  renameSync(mine, lock);
  await sleep(SETTLE_MS);
  return contentOf(lock) === owner;
}

function isStale(lock: string, content: string | undefined, staleMs: number): boolean {
  const stat = statSync(lock, { throwIfNoEntry: false });
  if (!stat || content === undefined) return false; // gone meanwhile: to be taken in the usual way
  // Also of the future: such a time is not one that a program wrote just now.
  if (Math.abs(Date.now() - stat.mtimeMs) > staleMs) return true;
  const owner = parseOwner(content);
  return owner?.place === processPlace() && !isAlive(owner.pid);
}

/** Undefined while it is being written. */
function parseOwner(text: string): Owner | undefined {
  try {
    const owner: unknown = JSON.parse(text);
    if (!isObject(owner)) return undefined;
    const { pid, place } = owner;
    const isPid = typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0;
    return isPid && typeof place === 'string' ? { pid, place } : undefined;
  } catch {
    return undefined;
  }
}

function contentOf(lock: string): string | undefined {
  try {
    return readFileSync(lock, 'utf8');
  } catch {
    return undefined; // given back meanwhile
  }
}
