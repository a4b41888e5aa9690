// Converts between the SDK's types and the token store's.
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/client';
import { quote, signInFailed } from './failures.ts';
import type { StoredClient, StoredSignIn } from './token-store.ts';

type KeptTokens = Pick<StoredSignIn, 'accessToken' | 'refreshToken' | 'scope' | 'expiresAt'>;

/** Ten years. */
const MAX_LIFE_S = 10 * 365 * 86_400;

export function tokensToKeep(childName: string, tokens: OAuthTokens): KeptTokens {
  if (tokens.token_type.toLowerCase() !== 'bearer') {
    const reason = `the token type is ${quote(tokens.token_type)}, and only Bearer is supported`;
    throw signInFailed(childName, reason);
  }
  // It goes into a header.
  if (!/^[\u0021-\u007e]+$/.test(tokens.access_token)) {
    throw signInFailed(childName, 'the access token contains invalid characters');
  }
  const seconds = Math.min(tokens.expires_in ?? 0, MAX_LIFE_S);
  return {
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    scope: tokens.scope,
    expiresAt: seconds > 0 ? Date.now() + seconds * 1_000 : undefined,
  };
}

export function informationOf(client: StoredClient): OAuthClientInformationMixed {
  const { client_id, client_secret, token_endpoint_auth_method } = client;
  return {
    client_id,
    ...(client_secret === undefined ? {} : { client_secret }),
    // Only a registered client has one; the SDK's type then requires the rest of the registration.
    ...(token_endpoint_auth_method === undefined
      ? {}
      : { token_endpoint_auth_method, redirect_uris: [] }),
  };
}
