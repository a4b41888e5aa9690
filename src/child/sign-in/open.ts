// The credentials of one server, from the token store. The file is read on each use, so that a sign-in,
// sign-out or renewal by another process takes effect at once. Lazy: only renewals load the SDK.
import { SwitchboardError } from '../../base/errors.ts';
import type { Credentials } from '../credentials.ts';
import { quote, signInFailed, signInNeeded } from './failures.ts';
import type { Resolve } from './safe-fetch.ts';
import {
  type OpenSeal,
  readSignIn,
  removeSignIn,
  type StoredSignIn,
  signInFile,
  writeSignIn,
} from './token-store.ts';

export interface CredentialsOptions {
  readonly childName: string;
  /** With its variables filled in. */
  readonly url: string;
  /** The configured headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Where sign-ins are saved. */
  readonly folder: string;
  readonly resolve?: Resolve | undefined;
  /** Names the proxy, if there is one. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly openSeal?: OpenSeal | undefined;
}

/**
 * Does nothing until used. Both functions reject with CHILD_SIGN_IN if a new sign-in is needed for a reason worth
 * reporting, and with SIGN_IN_FAILED if a renewal failed.
 */
export function openCredentials(options: CredentialsOptions): Credentials {
  const { childName, url, folder, openSeal } = options;
  let renewal: Promise<string | undefined> | undefined;
  /** Refresh tokens whose successors could not be saved: using them again looks like theft. */
  const spent = new Set<string>();

  const read = async (file: string): Promise<StoredSignIn | undefined> => {
    const kept = await readSignIn(file, openSeal);
    if (kept === 'nothing') return undefined;
    if (kept !== 'damaged') return kept;
    throw signInNeeded(childName, `the saved sign-in is damaged (${file})`);
  };

  const renewNow = async (used: string | undefined): Promise<string | undefined> => {
    const file = await signInFile(folder, url);
    const before = await read(file);
    if (before && isNews(before, used)) return headerOf(before);
    if (before?.refreshToken === undefined) return undefined;
    const { withLock } = await import('./lock.ts');
    try {
      return await withLock(file, async () => {
        // Another process may have been faster.
        const kept = await read(file);
        if (kept && isNews(kept, used)) return headerOf(kept);
        return kept && exchange(file, kept);
      });
    } catch (cause) {
      if (cause instanceof SwitchboardError) throw cause;
      const reason = `it can't be renewed because ${folder} is not writable (${quote(String(cause))})`;
      throw signInFailed(childName, reason, { cause });
    }
  };

  /** Renews the saved sign-in. Runs under the lock. */
  const exchange = async (file: string, kept: StoredSignIn): Promise<string | undefined> => {
    const { refreshToken } = kept;
    if (refreshToken === undefined) return undefined;
    if (spent.has(refreshToken)) throw notSaved(childName, folder);
    const { refresh } = await import('./refresh.ts');
    const { headers = {}, resolve, env } = options;
    const onRefused = (): void => forget(file);
    const seal = await openSeal?.(); // before the old token is used up
    const renewed = await refresh(
      { ...kept, refreshToken },
      { childName, url, headers, resolve, env, onRefused },
    );
    try {
      writeSignIn(file, renewed, seal); // before it is used: if it is lost, it can't be renewed
    } catch (cause) {
      spent.add(refreshToken);
      forget(file);
      throw notSaved(childName, folder, cause);
    }
    return headerOf(renewed);
  };

  const renew = async (used: string | undefined): Promise<string | undefined> => {
    const join = (): Promise<string | undefined> => {
      renewal ??= renewNow(used).finally(() => {
        renewal = undefined;
      });
      return renewal;
    };
    const value = await join();
    // The renewal may have started before this value was refused.
    return value !== undefined && value === used ? join() : value;
  };

  return {
    async authorization() {
      const kept = await read(await signInFile(folder, url));
      if (!kept) return undefined;
      return isExpired(kept) ? renew(headerOf(kept)) : headerOf(kept);
    },
    renew,
  };
}

/** Whether it differs from the refused value and may still be valid. */
function isNews(kept: StoredSignIn, used: string | undefined): boolean {
  return headerOf(kept) !== used && !isExpired(kept);
}

function headerOf({ accessToken }: StoredSignIn): string {
  return `Bearer ${accessToken}`;
}

function isExpired({ expiresAt = Number.POSITIVE_INFINITY }: StoredSignIn): boolean {
  return Date.now() >= expiresAt;
}

function forget(file: string): void {
  try {
    removeSignIn(file);
  } catch {
    // it stays, and fails the same way next time
  }
}

function notSaved(childName: string, folder: string, cause?: unknown): SwitchboardError {
  const reason = `the renewed sign-in could not be saved in ${folder}`;
  const why = cause instanceof Error ? ` (${quote(cause.message)})` : '';
  return signInNeeded(childName, `${reason}${why}`, { cause });
}
