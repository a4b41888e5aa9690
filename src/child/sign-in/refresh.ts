// Renewing a sign-in. The refresh token goes to nobody but the issuer that gave it, and only as long
// as the server still names that one.
import { OAuthError, OAuthErrorCode, refreshAuthorization } from '@modelcontextprotocol/client';
import { informationOf } from './client.ts';
import { discover } from './discover.ts';
import { explain } from './explain.ts';
import { quote, signInNeeded } from './failures.ts';
import { createSafeFetch, type Resolve } from './safe-fetch.ts';
import type { StoredSignIn } from './token-store.ts';
import { tokensToKeep } from './tokens.ts';

export interface RefreshOptions {
  readonly childName: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resolve: Resolve | undefined;
  /** The issuer does not know the sign-in any more: nobody is to try again with it. */
  readonly onRefused: () => void;
}

/** Answers that are not about this moment, but about the sign-in. */
const FINAL = new Set<string>([
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
]);

/** What takes the place of `signIn`. CHILD_SIGN_IN where only a new one helps, SIGN_IN_FAILED else. */
export async function refresh(
  signIn: StoredSignIn & { readonly refreshToken: string },
  { childName, url, headers, resolve, onRefused }: RefreshOptions,
): Promise<StoredSignIn> {
  const serverUrl = new URL(url);
  const net = createSafeFetch({ childName, serverUrl, resolve });
  const place = await discover({ childName, serverUrl, headers, net });
  const { issuer, resource, client, refreshToken, scope } = signIn;
  if (place?.issuer !== issuer) {
    const now = place ? `is ${quote(place.issuer)} now` : 'is gone';
    const reason = `you have signed in at ${quote(issuer)}, but its sign-in service ${now}, which was sent nothing of that`;
    throw signInNeeded(childName, reason);
  }
  if (place.resource !== resource) {
    const reason = `you have signed in to ${quote(resource)}, and it calls itself ${quote(place.resource)} now`;
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
      const reason = `the last sign-in is not valid any more (${quote(cause.code)})`;
      throw signInNeeded(childName, reason, { cause });
    }
  });
  return { ...signIn, scope, ...tokensToKeep(childName, tokens) };
}
