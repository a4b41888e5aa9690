// Where a server wants its users to sign in: it says so when it refuses a request, or at a
// well-known place; the issuer that it names says the rest. Asked anew at each sign-in and each
// renewal, because a server may change its issuer, and nothing of the old one is for the new one.
import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  type OAuthProtectedResourceMetadata,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import { VERSION } from '../../base/version.ts';
import { NEWEST_REVISION } from '../../mcp/revisions.ts';
import { explain } from './explain.ts';
import { quote, signInFailed } from './failures.ts';
import type { SafeFetch } from './safe-fetch.ts';

/** Where to sign in, and for what. */
export interface SignInPlace {
  /** What the tokens are for, as the server calls itself. */
  readonly resource: string;
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata;
  /** What the server asks for, if it says so. */
  readonly scope: string | undefined;
}

export interface DiscoverOptions {
  readonly childName: string;
  readonly serverUrl: URL;
  /** What is sent to the server besides, such as a tenant. */
  readonly headers: Readonly<Record<string, string>>;
  readonly net: SafeFetch;
}

/** Undefined where the server wants no sign-in. */
export async function discover(options: DiscoverOptions): Promise<SignInPlace | undefined> {
  const { childName, serverUrl, net } = options;
  const answer = await knock(options);
  const challenge = answer.status === 401 ? extractWWWAuthenticateParams(answer) : {};
  const described = await describeResource(options, challenge.resourceMetadataUrl);
  const issuerUrl = described?.authorization_servers?.[0] ?? String(new URL('/', serverUrl));
  const wantsSignIn = answer.status === 401 || described !== undefined;
  const metadata = await explain({ childName, what: 'what its sign-in service says' }, () =>
    discoverAuthorizationServerMetadata(issuerUrl, { fetchFn: net.fetch }),
  ).catch((error: unknown) => {
    if (wantsSignIn || !isNoJson(error)) throw error;
  });
  if (!metadata) {
    if (!wantsSignIn) return undefined;
    throw signInFailed(childName, 'it does not say where to sign in', {
      hint: 'If it takes a key, write that into its configuration: "headers": {"Authorization": "Bearer ${KEY}"}.',
    });
  }
  return {
    resource: resourceOf(options, described),
    issuer: metadata.issuer,
    metadata,
    scope: challenge.scope ?? described?.scopes_supported?.join(' '),
  };
}

/** A first request without a token: a server that wants a sign-in refuses it and says where. */
function knock({ serverUrl, headers, net }: DiscoverOptions): Promise<Response> {
  const params = {
    protocolVersion: NEWEST_REVISION,
    capabilities: {},
    clientInfo: { name: 'switchboard', version: VERSION },
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

/** What the server says of itself as something to sign in to; undefined where it says nothing. */
async function describeResource(
  { childName, serverUrl, net }: DiscoverOptions,
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
    return await explain({ childName, what: 'what it says about signing in' }, () =>
      discoverOAuthProtectedResourceMetadata(serverUrl, where, fetchFn),
    );
  } catch (error) {
    // An older server says nothing: then it is its own issuer. Trouble is not the same as nothing.
    const saysNothing = (lastStatus >= 300 && lastStatus < 500) || isNoJson(error);
    if (saysNothing && resourceMetadataUrl === undefined) return undefined;
    throw error;
  }
}

/** Many a website has a page for every address, also for those at which nothing is meant to be. */
function isNoJson(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof SyntaxError;
}

function resourceOf(
  { childName, serverUrl }: DiscoverOptions,
  described: OAuthProtectedResourceMetadata | undefined,
): string {
  const own = resourceUrlFromServerUrl(serverUrl);
  if (!described) return own.href;
  const configuredResource = described.resource;
  if (checkResourceAllowed({ requestedResource: own, configuredResource }))
    return described.resource;
  const reason = `it says that it is ${quote(described.resource)}, which is another server`;
  throw signInFailed(childName, reason);
}
