// Renews a sign-in. The refresh token goes only to the issuer it came from, and only while the server
// still names that issuer.
import { OAuthError, OAuthErrorCode, refreshAuthorization } from '@modelcontextprotocol/client';
import { findSignInPlace } from './discover.ts';
import { explain } from './explain.ts';
import { quote, signInNeeded } from './failures.ts';
import { createSafeFetch, type Resolve } from './safe-fetch.ts';
import type { StoredSignIn } from './token-store.ts';
import { informationOf, tokensToKeep } from './tokens.ts';

export interface RefreshOptions {
  readonly childName: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resolve: Resolve | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** The issuer no longer accepts the sign-in, so it must not be tried again. */
  readonly onRefused: () => void;
}

/** Errors that trying again won't fix. */
const FINAL = new Set<string>([
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
]);

/** Rejects with CHILD_SIGN_IN if only a new sign-in can help, otherwise with SIGN_IN_FAILED. */
export async function refresh(
  signIn: StoredSignIn & { readonly refreshToken: string },
  { childName, url, headers, resolve, env, onRefused }: RefreshOptions,
): Promise<StoredSignIn> {
  const serverUrl = new URL(url);
  const net = createSafeFetch({ childName, serverUrl, resolve, env });
  const place = await findSignInPlace({ childName, serverUrl, headers, net });
  const { issuer, resource, client, refreshToken, scope } = signIn;
  if (place?.issuer !== issuer) {
    const now = place ? `is now ${quote(place.issuer)}` : 'is gone';
    const reason = `you signed in at ${quote(issuer)}, but its authorization server ${now}; your tokens were not sent there`;
    throw signInNeeded(childName, reason);
  }
  if (place.resource !== resource) {
    const reason = `you signed in to ${quote(resource)}, but it now calls itself ${quote(place.resource)}`;
    throw signInNeeded(childName, reason);
  }
  const secrets = [refreshToken, client.client_secret, signIn.accessToken];
  const tokens = await explain({ childName, what: 'renewing the sign-in', secrets }, async () => {
    try {
      return await refreshAuthorization(issuer, {
        metadata: place.metadata,
        clientInformation: informationOf(client),
        refreshToken,
        resource,
        fetchFn: net.fetch,
      });
    } catch (cause) {
      if (!(cause instanceof OAuthError) || !FINAL.has(cause.code)) throw cause;
      onRefused();
      const reason = `the last sign-in is no longer valid (${quote(cause.code)})`;
      throw signInNeeded(childName, reason, { cause });
    }
  });
  return { ...signIn, scope, ...tokensToKeep(childName, tokens) };
}
