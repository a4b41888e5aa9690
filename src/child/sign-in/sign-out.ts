// Signs out: removes the saved tokens first, whether or not the issuer can revoke them.
import {
  discoverAuthorizationServerMetadata,
  OAuthError,
  selectClientAuthMethod,
} from '@modelcontextprotocol/client';
import type { Cancellation } from '../../base/cancellation.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { explain } from './explain.ts';
import { quote, signInFailed } from './failures.ts';
import { withLock } from './lock.ts';
import { createSafeFetch, type Resolve, type SafeFetch } from './safe-fetch.ts';
import {
  type Kept,
  type OpenSeal,
  readSignIn,
  removeSignIn,
  type StoredSignIn,
  signInFile,
} from './token-store.ts';
import { informationOf } from './tokens.ts';

export interface SignOutOptions {
  readonly childName: string;
  readonly url: string;
  readonly folder: string;
  readonly cancellation: Cancellation;
  readonly resolve?: Resolve | undefined;
  /** Names the proxy, if there is one. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly openSeal?: OpenSeal | undefined;
}

export interface SignedOut {
  readonly wasSignedIn: boolean;
  /** Whether the issuer revoked the tokens. */
  readonly revoked: boolean;
  /** Why it didn't. */
  readonly note: string | undefined;
}

export async function signOut(options: SignOutOptions): Promise<SignedOut> {
  const { childName, url, folder, openSeal } = options;
  const kept = await removeKept(childName, await signInFile(folder, url), openSeal);
  if (kept === 'nothing') return { wasSignedIn: false, revoked: false, note: undefined };
  if (kept === 'damaged') return notRevoked('the saved sign-in was damaged');
  try {
    return await revoke(kept, options);
  } catch (error) {
    if (!(error instanceof SwitchboardError) || error.code === 'CANCELLED') throw error;
    return notRevoked(String(error.data['reason']));
  }
}

/** Waits for a renewal in progress, which would save the tokens again. */
async function removeKept(
  childName: string,
  file: string,
  openSeal: OpenSeal | undefined,
): Promise<Kept> {
  // Without the key, it can still be removed.
  const read = (): Promise<Kept> => readSignIn(file, openSeal).catch(() => 'damaged');
  if ((await read()) === 'nothing') return 'nothing';
  try {
    return await withLock(file, async () => {
      const kept = await read();
      removeSignIn(file);
      return kept;
    });
  } catch (cause) {
    const reason = `${file} cannot be removed (${quote(String(cause))})`;
    throw signInFailed(childName, reason, { cause, hint: 'Remove it by hand to sign out.' });
  }
}

async function revoke(kept: StoredSignIn, options: SignOutOptions): Promise<SignedOut> {
  const { childName, url, cancellation, resolve, env } = options;
  const { issuer } = kept;
  const net = createSafeFetch({ childName, serverUrl: new URL(url), cancellation, resolve, env });
  const metadata = await explain({ childName, what: `the metadata of ${quote(issuer)}` }, () =>
    discoverAuthorizationServerMetadata(issuer, { fetchFn: net.fetch }),
  );
  // The SDK passes these through, but its type doesn't have them.
  const { revocation_endpoint: endpoint, revocation_endpoint_auth_methods_supported: methods } =
    (metadata ?? {}) as Record<string, unknown>;
  if (typeof endpoint !== 'string') {
    return notRevoked(`${quote(issuer)} does not support revoking tokens`);
  }
  const request = { kept, endpoint, methods: Array.isArray(methods) ? methods.map(String) : [] };
  const secrets = [kept.accessToken, kept.refreshToken, kept.client.client_secret];
  await explain({ childName, what: 'revoking the tokens', secrets }, async () => {
    if (kept.refreshToken !== undefined) {
      await revokeToken(net, { ...request, token: kept.refreshToken, hint: 'refresh_token' });
    }
    await revokeToken(net, { ...request, token: kept.accessToken, hint: 'access_token' });
  });
  return { wasSignedIn: true, revoked: true, note: undefined };
}

interface Revocation {
  readonly kept: StoredSignIn;
  readonly endpoint: string;
  readonly methods: string[];
  readonly token: string;
  readonly hint: 'access_token' | 'refresh_token';
}

/** RFC 7009, which the SDK doesn't implement. */
async function revokeToken(net: SafeFetch, request: Revocation): Promise<void> {
  const { kept, endpoint, methods, token, hint } = request;
  const { client_id, client_secret } = kept.client;
  const form = new URLSearchParams({ token, token_type_hint: hint });
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  const method = selectClientAuthMethod(informationOf(kept.client), methods);
  if (method === 'client_secret_basic' && client_secret !== undefined) {
    const pair = Buffer.from(`${client_id}:${client_secret}`).toString('base64');
    headers.set('authorization', `Basic ${pair}`);
  } else {
    form.set('client_id', client_id);
    if (method === 'client_secret_post') form.set('client_secret', client_secret ?? '');
  }
  const response = await net.fetch(endpoint, { method: 'POST', headers, body: form });
  if (!response.ok) throw new OAuthError(`HTTP ${response.status}`, await response.text());
}

function notRevoked(note: string): SignedOut {
  return { wasSignedIn: true, revoked: false, note };
}
