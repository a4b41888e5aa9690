// One sign-in or renewal at a time, across the programs of one user. A refresh token may be used once;
// two programs that use the same one look like a theft, and the issuer then takes back all of them.
import { dirname } from 'node:path';
import { withLockFile } from '../../base/lock.ts';
import { prepareFolder } from './token-store.ts';

/** A renewal takes less than a minute, whatever happens. */
const TIMES = { staleMs: 60_000, waitMs: 90_000 };

/** Does the action while nobody else does one for this file. Throws where no lock can be made. */
export async function withLock<T>(file: string, action: () => Promise<T>): Promise<T> {
  prepareFolder(dirname(file));
  return withLockFile(`${file}.lock`, TIMES, action);
}
