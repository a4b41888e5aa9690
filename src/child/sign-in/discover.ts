// Finds out where to sign in to a server. The server says so when it refuses a request, or at a well-known URL, and
// the issuer it names provides the rest. Repeated for each sign-in and each renewal: a server may change its
// issuer, and the new one must not get anything that belongs to the old one.
import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  type OAuthProtectedResourceMetadata,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import { CLIENT_INFO } from '../../mcp/own-info.ts';
import { NEWEST_REVISION } from '../../mcp/revisions.ts';
import { explain } from './explain.ts';
import { quote, signInFailed } from './failures.ts';
import type { SafeFetch } from './safe-fetch.ts';

export interface SignInPlace {
  /** The resource the tokens are for, as named by the server. */
  readonly resource: string;
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata;
  /** The scope that the server asks for, if any. */
  readonly scope: string | undefined;
}

export interface SignInPlaceOptions {
  readonly childName: string;
  readonly serverUrl: URL;
  /** The configured headers, such as a tenant. */
  readonly headers: Readonly<Record<string, string>>;
  readonly net: SafeFetch;
}

/** Undefined if the server doesn't require a sign-in. */
export async function findSignInPlace(
  options: SignInPlaceOptions,
): Promise<SignInPlace | undefined> {
  const { childName, serverUrl, net } = options;
  const answer = await requestWithoutToken(options);
  const challenge = answer.status === 401 ? extractWWWAuthenticateParams(answer) : {};
  const described = await describeResource(options, challenge.resourceMetadataUrl);
  const issuerUrl = described?.authorization_servers?.[0] ?? String(new URL('/', serverUrl));
  const wantsSignIn = answer.status === 401 || described !== undefined;
  const metadata = await explain(
    { childName, what: 'the metadata of its authorization server' },
    () => discoverAuthorizationServerMetadata(issuerUrl, { fetchFn: net.fetch }),
  ).catch((error: unknown) => {
    if (wantsSignIn || !isNotJson(error)) throw error;
  });
  if (!metadata) {
    if (!wantsSignIn) return undefined;
    throw signInFailed(childName, "it doesn't say where to sign in", {
      hint: 'If it takes an API key, set it in the configuration: "headers": {"Authorization": "Bearer ${KEY}"}.',
    });
  }
  return {
    resource: resourceOf(options, described),
    issuer: metadata.issuer,
    metadata,
    scope: challenge.scope ?? described?.scopes_supported?.join(' '),
  };
}

/** A request without a token: a server that requires a sign-in refuses it and says where. */
function requestWithoutToken({ serverUrl, headers, net }: SignInPlaceOptions): Promise<Response> {
  const params = {
    protocolVersion: NEWEST_REVISION,
    capabilities: {},
    clientInfo: CLIENT_INFO.value,
  };
  return net.probe(serverUrl, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
}

/** The server's resource metadata; undefined if it has none. */
async function describeResource(
  { childName, serverUrl, net }: SignInPlaceOptions,
  resourceMetadataUrl: URL | undefined,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  let lastStatus = 0;
  const fetchFn = async (address: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await net.fetch(address, init);
    lastStatus = response.status;
    return response;
  };
  const where = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl };
  try {
    return await explain({ childName, what: 'its resource metadata' }, () =>
      discoverOAuthProtectedResourceMetadata(serverUrl, where, fetchFn),
    );
  } catch (error) {
    // Older servers have no metadata and are their own issuers. A failure doesn't mean that.
    const hasNone = (lastStatus >= 300 && lastStatus < 500) || isNotJson(error);
    if (hasNone && resourceMetadataUrl === undefined) return undefined;
    throw error;
  }
}

/** Many websites answer any URL with a page. */
function isNotJson(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof SyntaxError;
}

function resourceOf(
  { childName, serverUrl }: SignInPlaceOptions,
  described: OAuthProtectedResourceMetadata | undefined,
): string {
  const own = resourceUrlFromServerUrl(serverUrl);
  if (!described) return own.href;
  const configuredResource = described.resource;
  if (checkResourceAllowed({ requestedResource: own, configuredResource }))
    return described.resource;
  const reason = `it identifies itself as ${quote(described.resource)}, which is a different server`;
  throw signInFailed(childName, reason);
}
