// As whom we come to an issuer, in the form that the SDK takes.
import type { OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import type { StoredClient } from './token-store.ts';

export function informationOf(client: StoredClient): OAuthClientInformationMixed {
  const { client_id, client_secret, token_endpoint_auth_method } = client;
  return {
    client_id,
    ...(client_secret === undefined ? {} : { client_secret }),
    // Only a registered program has one; the SDK's type wants the rest of the registration as well.
    ...(token_endpoint_auth_method === undefined
      ? {}
      : { token_endpoint_auth_method, redirect_uris: [] }),
  };
}
