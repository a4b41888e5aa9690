// One at a time, across the programs of one user. A refresh token may be used once; two programs
// that use the same one look like a theft, and the issuer then takes back all of them.
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, processPlace } from '../../base/process-table.ts';
import { prepareFolder } from './token-store.ts';

/** A renewal takes less than this, whatever happens; who holds the lock for longer is gone. */
const STALE_MS = 60_000;
const RETRY_MS = 50;
const LONGEST_WAIT_MS = 90_000;
/** Two who take over a lock at once see within this time which of them has it. */
const SETTLE_MS = 100;

interface Owner {
  readonly pid: number;
  readonly place: string;
  readonly id: string;
}

/** Does the action while nobody else does one for this file. Throws where no lock can be made. */
export async function withLock<T>(file: string, action: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`;
  const owner = JSON.stringify({
    pid: process.pid,
    place: processPlace(),
    id: Math.random().toString(36).slice(2),
  } satisfies Owner);
  prepareFolder(dirname(file));
  const end = performance.now() + LONGEST_WAIT_MS;
  while (!(await take(lock, owner))) {
    if (performance.now() > end) throw new Error(`${lock} is held by another program`);
    await delay(RETRY_MS);
  }
  try {
    return await action();
  } finally {
    if (contentOf(lock) === owner) rmSync(lock, { force: true });
  }
}

async function take(lock: string, owner: string): Promise<boolean> {
  try {
    writeFileSync(lock, owner, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  if (!isStale(lock)) return false;
  // Put in the place of the old one, not created after its removal: then one of two is left.
  const mine = `${lock}.${process.pid}-${Math.random().toString(36).slice(2)}`;
  writeFileSync(mine, owner, { flag: 'wx', mode: 0o600 });
  renameSync(mine, lock);
  await delay(SETTLE_MS);
  return contentOf(lock) === owner;
}

function isStale(lock: string): boolean {
  const stat = statSync(lock, { throwIfNoEntry: false });
  if (!stat) return false; // gone meanwhile: to be taken in the usual way
  if (Date.now() - stat.mtimeMs > STALE_MS) return true;
  const owner = parseOwner(contentOf(lock));
  return owner?.place === processPlace() && !isAlive(owner.pid);
}

function parseOwner(text: string | undefined): Owner | undefined {
  try {
    return JSON.parse(text ?? '') as Owner;
  } catch {
    return undefined; // being written just now
  }
}

function contentOf(lock: string): string | undefined {
  try {
    return readFileSync(lock, 'utf8');
  } catch {
    return undefined; // given back meanwhile
  }
}
