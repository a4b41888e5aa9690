// Tokens as an issuer gives them, and what is kept and sent of them.
import type { OAuthTokens } from '@modelcontextprotocol/client';
import { quote, signInFailed } from './failures.ts';
import type { StoredSignIn } from './token-store.ts';

type KeptTokens = Pick<StoredSignIn, 'accessToken' | 'refreshToken' | 'scope' | 'expiresAt'>;

/** Ten years: what is said to live longer has no end that anybody will see. */
const LONGEST_LIFE_S = 10 * 365 * 86_400;

export function tokensToKeep(childName: string, tokens: OAuthTokens): KeptTokens {
  if (tokens.token_type.toLowerCase() !== 'bearer') {
    const reason = `the tokens are of the kind ${quote(tokens.token_type)}, and only Bearer is known`;
    throw signInFailed(childName, reason);
  }
  // It becomes part of a header.
  if (!/^[\u0021-\u007e]+$/.test(tokens.access_token)) {
    throw signInFailed(childName, 'the token that was given is not one');
  }
  const seconds = Math.min(tokens.expires_in ?? 0, LONGEST_LIFE_S);
  return {
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    scope: tokens.scope,
    expiresAt: seconds > 0 ? Date.now() + seconds * 1_000 : undefined,
  };
}
