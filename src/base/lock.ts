// A lock across processes: a file that names its owner. If the owner is gone, or the lock is older than any
// work under it takes, another process takes it over.
import {
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { unfinishedName } from './atomic-file.ts';
import { isObject } from './object.ts';
import { isAlive, processPlace, startTime } from './process-table.ts';
import { codeOf } from './system-error.ts';
import { sleep } from './time.ts';

export interface LockTimes {
  /** After this many milliseconds, the owner counts as gone. */
  readonly staleMs: number;
  /** Milliseconds to wait for the lock; longer than `staleMs`, so that a stale lock is always taken over. */
  readonly waitMs: number;
}

interface Owner {
  readonly pid: number;
  /** The machine and container the pid belongs to. */
  readonly place: string;
  /** When the process started: a later one can have the same pid. */
  readonly start: string | undefined;
}

const RETRY_MS = 20;
/** A held lock that is younger isn't compared with its owner's start time, which costs a process on some systems. */
const YOUNG_MS = 1_000;
/** If two processes take over a lock at once, this settles which of them has it. */
const SETTLE_MS = 100;

/**
 * Does the work under the lock, whose folder must exist. Throws a `LockedError` if the lock stays taken, and
 * the system's error if it can't be created.
 */
export async function withLockFile<T>(
  lock: string,
  { staleMs, waitMs }: LockTimes,
  work: () => Promise<T>,
): Promise<T> {
  const end = performance.now() + waitMs;
  for (;;) {
    const release = await tryLockFile(lock, staleMs);
    if (release) {
      try {
        return await work();
      } finally {
        release();
      }
    }
    if (performance.now() > end) throw new LockedError(lock);
    await sleep(RETRY_MS);
  }
}

/** Does short work under the lock if it's free. Doesn't wait: a stale lock is only removed, for the next time. */
export function ifUnlocked(lock: string, staleMs: number, work: () => void): void {
  const owner = nameOwner();
  if (!create(lock, owner)) {
    if (isAbandoned(lock, contentOf(lock), staleMs)) rmSync(lock, { force: true });
    return;
  }
  try {
    work();
  } finally {
    if (contentOf(lock) === owner) rmSync(lock, { force: true });
  }
}

/** Takes the lock without waiting for it; returns how to release it, or undefined if it's taken. */
export async function tryLockFile(
  lock: string,
  staleMs: number,
): Promise<(() => void) | undefined> {
  const owner = nameOwner(await (ownStart ??= startTime(process.pid)));
  if (!(await take(lock, owner, staleMs))) return undefined;
  return () => {
    if (contentOf(lock) === owner) rmSync(lock, { force: true });
  };
}

let ownStart: Promise<string> | undefined;

export class LockedError extends Error {
  override readonly name = 'LockedError';

  constructor(lock: string) {
    super(`${lock} is held by another program`);
  }
}

function nameOwner(start?: string): string {
  return JSON.stringify({
    pid: process.pid,
    place: processPlace(),
    start,
    // Distinguishes two locks of the same process.
    id: Math.random().toString(36).slice(2),
  });
}

/** Returns whether there was none. */
function create(lock: string, owner: string): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(lock, 'wx', 0o600);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return false;
  }
  try {
    writeFileSync(descriptor, owner);
  } catch (error) {
    rmSync(lock, { force: true }); // on a full disk, an empty lock would keep everyone out
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return true;
}

async function take(lock: string, owner: string, staleMs: number): Promise<boolean> {
  if (create(lock, owner)) return true;
  const found = contentOf(lock);
  if (!(await isStale(lock, found, staleMs))) return false;
  // Replaces the old file instead of removing it first, so that one of two processes wins.
  const mine = unfinishedName(lock);
  create(mine, owner);
  if (contentOf(lock) !== found) {
    rmSync(mine, { force: true });
    return false; // another process was faster
  }
  renameSync(mine, lock);
  await sleep(SETTLE_MS);
  return contentOf(lock) === owner;
}

/** Also if its owner's pid now belongs to another process. */
async function isStale(
  lock: string,
  content: string | undefined,
  staleMs: number,
): Promise<boolean> {
  if (isAbandoned(lock, content, staleMs)) return true;
  const ageMs = ageOf(lock);
  const owner = content === undefined ? undefined : parseOwner(content);
  if (owner?.start === undefined || owner.place !== processPlace()) return false;
  if (ageMs === undefined || ageMs < YOUNG_MS) return false;
  return owner.start !== (await startTime(owner.pid));
}

/** It's too old, or its owner is gone. */
function isAbandoned(lock: string, content: string | undefined, staleMs: number): boolean {
  const ageMs = ageOf(lock);
  if (ageMs === undefined || content === undefined) return false; // released in the meantime
  if (ageMs > staleMs) return true;
  const owner = parseOwner(content);
  return owner?.place === processPlace() && !isAlive(owner.pid);
}

/** A time in the future is just as wrong as one long ago. */
function ageOf(lock: string): number | undefined {
  const stat = statSync(lock, { throwIfNoEntry: false });
  return stat && Math.abs(Date.now() - stat.mtimeMs);
}

/** Undefined while the file is being written. */
function parseOwner(text: string): Owner | undefined {
  try {
    const owner: unknown = JSON.parse(text);
    if (!isObject(owner)) return undefined;
    const { pid, place, start } = owner;
    const isPid = typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0;
    if (!isPid || typeof place !== 'string') return undefined;
    return { pid, place, start: typeof start === 'string' ? start : undefined };
  } catch {
    return undefined;
  }
}

function contentOf(lock: string): string | undefined {
  try {
    return readFileSync(lock, 'utf8');
  } catch {
    return undefined; // released in the meantime
  }
}
