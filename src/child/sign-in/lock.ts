// One sign-in or renewal at a time, across all of the user's processes. A refresh token may be used only
// once: a second use looks like theft, and the issuer then revokes all tokens.
import { dirname } from 'node:path';
import { withLockFile } from '../../base/lock.ts';
import { prepareFolder } from './token-store.ts';

/** A renewal never takes longer than a minute. */
const TIMES = { staleMs: 60_000, waitMs: 90_000 };

/** Throws if the lock can't be created. */
export async function withLock<T>(file: string, action: () => Promise<T>): Promise<T> {
  prepareFolder(dirname(file));
  return withLockFile(`${file}.lock`, TIMES, action);
}
