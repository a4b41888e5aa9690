// The credentials of one server, from the token store. The file is read whenever they are asked for,
// so that a sign-in, a sign-out or a renewal by another program counts at once. Renewals need the SDK,
// which is loaded only then.
import { SwitchboardError } from '../../base/errors.ts';
import type { Credentials } from '../credentials.ts';
import { quote, signInFailed, signInNeeded } from './failures.ts';
import type { Resolve } from './safe-fetch.ts';
import {
  readSignIn,
  removeSignIn,
  type StoredSignIn,
  tokenFile,
  writeSignIn,
} from './token-store.ts';

export interface CredentialsOptions {
  readonly childName: string;
  /** Variables in it are filled in. */
  readonly url: string;
  /** What is sent to the server besides. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Where sign-ins are kept. */
  readonly folder: string;
  readonly resolve?: Resolve | undefined;
}

/**
 * Makes no effort until asked. Both functions reject with CHILD_SIGN_IN where there is more to say
 * than that nobody has signed in, and with SIGN_IN_FAILED where a renewal met trouble.
 */
export function openCredentials(options: CredentialsOptions): Credentials {
  const { childName, url, folder } = options;
  let renewal: Promise<string | undefined> | undefined;
  /** Refresh tokens whose successors could not be saved: using them again looks like a theft. */
  const spent = new Set<string>();

  const read = (file: string): StoredSignIn | undefined => {
    const kept = readSignIn(file);
    if (kept === 'nothing') return undefined;
    if (kept !== 'damaged') return kept;
    throw signInNeeded(childName, `what was kept of the last sign-in is damaged (${file})`);
  };

  const renewNow = async (used: string | undefined): Promise<string | undefined> => {
    const file = await tokenFile(folder, url);
    const before = read(file);
    if (before && isNews(before, used)) return headerOf(before);
    if (before?.refreshToken === undefined) return undefined;
    const { withLock } = await import('./lock.ts');
    try {
      return await withLock(file, async () => {
        // Another program may have been faster.
        const kept = read(file);
        if (kept && isNews(kept, used)) return headerOf(kept);
        return kept && exchange(file, kept);
      });
    } catch (cause) {
      if (cause instanceof SwitchboardError) throw cause;
      const reason = `it cannot be renewed, because ${folder} cannot be written (${quote(String(cause))})`;
      throw signInFailed(childName, reason, { cause });
    }
  };

  /** Renews what is kept. Done under the lock. */
  const exchange = async (file: string, kept: StoredSignIn): Promise<string | undefined> => {
    const { refreshToken } = kept;
    if (refreshToken === undefined) return undefined;
    if (spent.has(refreshToken)) throw notSaved(childName, folder);
    const { refresh } = await import('./refresh.ts');
    const { headers = {}, resolve } = options;
    const onRefused = (): void => forget(file);
    const renewed = await refresh(
      { ...kept, refreshToken },
      { childName, url, headers, resolve, onRefused },
    );
    try {
      writeSignIn(file, renewed); // before anybody uses it: what is lost now cannot be renewed
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
    // It may have been under way for an older value already.
    return value !== undefined && value === used ? join() : value;
  };

  return {
    async authorization() {
      const kept = read(await tokenFile(folder, url));
      if (!kept) return undefined;
      return isExpired(kept) ? renew(headerOf(kept)) : headerOf(kept);
    },
    renew,
  };
}

/** Something else than the value that was refused, and worth a try. */
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
    // Then it stays, and fails again with the same words.
  }
}

function notSaved(childName: string, folder: string, cause?: unknown): SwitchboardError {
  const reason = `the renewed sign-in could not be saved in ${folder}`;
  const why = cause instanceof Error ? ` (${quote(cause.message)})` : '';
  return signInNeeded(childName, `${reason}${why}`, { cause });
}
