// Signing out: what was kept is removed first, whatever comes of telling the issuer.
import {
  discoverAuthorizationServerMetadata,
  OAuthError,
  selectClientAuthMethod,
} from '@modelcontextprotocol/client';
import type { Cancellation } from '../../base/cancellation.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { informationOf } from './client.ts';
import { explain } from './explain.ts';
import { quote, signInFailed } from './failures.ts';
import { withLock } from './lock.ts';
import { createSafeFetch, type Resolve, type SafeFetch } from './safe-fetch.ts';
import {
  type Kept,
  readSignIn,
  removeSignIn,
  type StoredSignIn,
  tokenFile,
} from './token-store.ts';

export interface SignOutOptions {
  readonly childName: string;
  readonly url: string;
  readonly folder: string;
  readonly cancellation: Cancellation;
  readonly resolve?: Resolve | undefined;
}

export interface SignedOut {
  /** Whether there was anything to remove. */
  readonly wasSignedIn: boolean;
  /** What became of the tokens at the issuer: taken back, or why not. */
  readonly revoked: boolean;
  readonly note: string | undefined;
}

export async function signOut(options: SignOutOptions): Promise<SignedOut> {
  const { childName, url, folder } = options;
  const kept = await removeKept(childName, await tokenFile(folder, url));
  if (kept === 'nothing') return { wasSignedIn: false, revoked: false, note: undefined };
  if (kept === 'damaged') return notRevoked('what was kept was damaged');
  try {
    return await revoke(kept, options);
  } catch (error) {
    if (!(error instanceof SwitchboardError) || error.code === 'CANCELLED') throw error;
    return notRevoked(String(error.data['reason']));
  }
}

/** Not while a renewal is under way: it would put back what was removed. */
async function removeKept(childName: string, file: string): Promise<Kept> {
  if (readSignIn(file) === 'nothing') return 'nothing';
  try {
    return await withLock(file, async () => {
      const kept = readSignIn(file);
      removeSignIn(file);
      return kept;
    });
  } catch (cause) {
    const reason = `${file} cannot be removed (${quote(String(cause))})`;
    throw signInFailed(childName, reason, { cause, hint: 'Remove it by hand to sign out.' });
  }
}

async function revoke(kept: StoredSignIn, options: SignOutOptions): Promise<SignedOut> {
  const { childName, url, cancellation, resolve } = options;
  const { issuer } = kept;
  const net = createSafeFetch({ childName, serverUrl: new URL(url), cancellation, resolve });
  const metadata = await explain({ childName, what: `what ${quote(issuer)} says` }, () =>
    discoverAuthorizationServerMetadata(issuer, { fetchFn: net.fetch }),
  );
  // The SDK hands these on, but does not know them.
  const { revocation_endpoint: endpoint, revocation_endpoint_auth_methods_supported: methods } =
    (metadata ?? {}) as Record<string, unknown>;
  if (typeof endpoint !== 'string') {
    return notRevoked(`${quote(issuer)} has no way to take tokens back`);
  }
  const request = { kept, endpoint, methods: Array.isArray(methods) ? methods.map(String) : [] };
  const secrets = [kept.accessToken, kept.refreshToken, kept.client.client_secret];
  await explain({ childName, what: 'taking the tokens back', secrets }, async () => {
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

/** RFC 7009, which the SDK does not have. */
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
