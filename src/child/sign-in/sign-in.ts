// Signs a user in to a server: OAuth 2.1's authorization code flow with PKCE, a browser and a local port
// to return to. The token store keeps the result.
import {
  exchangeAuthorization,
  type OAuthTokens,
  registerClient,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import type { Cancellation } from '../../base/cancellation.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { formatDuration } from '../../base/text.ts';
import { withTimeout } from '../../base/time.ts';
import type { OAuthSettings } from '../../config/config.ts';
import { isLoopbackHost } from '../../net/address-kind.ts';
import { type Callback, openCallback } from './callback.ts';
import { findSignInPlace, type SignInPlace } from './discover.ts';
import { explain } from './explain.ts';
import { quote, signInFailed } from './failures.ts';
import { withLock } from './lock.ts';
import { createSafeFetch, type Resolve, type SafeFetch } from './safe-fetch.ts';
import {
  canonicalUrl,
  type OpenSeal,
  type SignInSeal,
  type StoredClient,
  type StoredSignIn,
  signInFile,
  writeSignIn,
} from './token-store.ts';
import { informationOf, tokensToKeep } from './tokens.ts';

/** How long the user has in the browser. */
const LIMIT_MS = 5 * 60_000;
/** Browsers and the programs that open them don't reliably take longer ones. */
const MAX_URL_CHARS = 8_000;

export interface SignInOptions {
  readonly childName: string;
  /** With its variables filled in. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly oauth?: OAuthSettings | undefined;
  /** Where sign-ins are saved. */
  readonly folder: string;
  readonly cancellation: Cancellation;
  /** Shows the user the sign-in page, whose URL has been checked. */
  readonly visit: (address: URL, issuer: string) => Promise<void>;
  readonly resolve?: Resolve | undefined;
  /** Names the proxy, if there is one. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly limitMs?: number | undefined;
  readonly openSeal?: OpenSeal | undefined;
}

/** Resolves with the saved sign-in; undefined if the server doesn't require one. */
export async function signIn(options: SignInOptions): Promise<StoredSignIn | undefined> {
  const { childName, url, headers = {}, folder, oauth = {}, cancellation, resolve, env } = options;
  const serverUrl = new URL(url);
  const seal = await options.openSeal?.();
  const net = createSafeFetch({ childName, serverUrl, cancellation, resolve, env });
  const place = await findSignInPlace({ childName, serverUrl, headers, net });
  if (!place) return undefined;
  // Checked before the issuer gets any data.
  checkBrowserAddress(childName, new URL(place.metadata.authorization_endpoint), serverUrl);
  await using callback = await openCallback(childName, oauth.callbackPort);
  const client = await findClient(childName, oauth, place, callback, net);
  const tokens = await obtainTokens({ options, place, callback, client, net });
  cancellation.throwIfCancelled();
  const signedIn: StoredSignIn = {
    version: 1,
    serverUrl: canonicalUrl(url),
    resource: place.resource,
    issuer: place.issuer,
    client,
    ...tokensToKeep(childName, tokens),
  };
  await keep(childName, await signInFile(folder, url), signedIn, seal);
  return signedIn;
}

/** The configured client, or one newly registered with this redirect URL. */
async function findClient(
  childName: string,
  { clientId, clientSecret }: OAuthSettings,
  { metadata, issuer }: SignInPlace,
  { redirectUrl }: Callback,
  net: SafeFetch,
): Promise<StoredClient> {
  if (clientId !== undefined) return { client_id: clientId, client_secret: clientSecret };
  if (metadata.registration_endpoint === undefined) {
    throw signInFailed(childName, `${quote(issuer)} does not support automatic registration`, {
      hint: 'Register Switchboard there yourself, with the redirect URL http://127.0.0.1:<port>/callback, and add to the server: "oauth": {"clientId": "…", "callbackPort": <port>}.',
    });
  }
  const registered = await explain({ childName, what: `registering at ${quote(issuer)}` }, () =>
    registerClient(issuer, {
      metadata,
      clientMetadata: {
        client_name: 'Switchboard',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none', // a program on a user's machine can't keep a secret
        application_type: 'native',
      },
      fetchFn: net.fetch,
    }),
  );
  const { client_id, client_secret, token_endpoint_auth_method } = registered;
  return { client_id, client_secret, token_endpoint_auth_method };
}

interface Attempt {
  readonly options: SignInOptions;
  readonly place: SignInPlace;
  readonly callback: Callback;
  readonly client: StoredClient;
  readonly net: SafeFetch;
}

async function obtainTokens(attempt: Attempt): Promise<OAuthTokens> {
  const { options, place, callback, client, net } = attempt;
  const { childName, oauth, visit } = options;
  const { metadata, issuer, resource } = place;
  const clientInformation = informationOf(client);
  const scope = oauth?.scopes?.join(' ') ?? withOfflineAccess(place);
  const what = `the metadata of ${quote(issuer)}`;
  const { authorizationUrl, codeVerifier } = await explain({ childName, what }, () =>
    startAuthorization(issuer, {
      metadata,
      clientInformation,
      redirectUrl: callback.redirectUrl,
      state: callback.state,
      resource,
      ...(scope === undefined ? {} : { scope }),
    }),
  );
  await visit(checkBrowserAddress(childName, authorizationUrl, new URL(options.url)), issuer);
  const answer = await inTime(options, callback);
  const code = await readAnswer(childName, place, answer);
  const iss = answer.get('iss');
  const secrets = [code, codeVerifier, client.client_secret];
  return explain({ childName, what: 'the code that came back', secrets }, () =>
    exchangeAuthorization(issuer, {
      metadata,
      clientInformation,
      authorizationCode: code,
      ...(iss === null ? {} : { iss }),
      codeVerifier,
      redirectUri: callback.redirectUrl,
      resource,
      fetchFn: net.fetch,
    }),
  );
}

/** Some issuers only allow renewals if asked for this scope. */
function withOfflineAccess({ scope, metadata }: SignInPlace): string | undefined {
  if (scope === undefined || scope.split(' ').includes('offline_access')) return scope;
  const isOffered = metadata.scopes_supported?.includes('offline_access') ?? false;
  return isOffered ? `${scope} offline_access` : scope;
}

/** Returns the code. Checks the issuer before trusting anything else in the response. */
async function readAnswer(
  childName: string,
  { metadata, issuer }: SignInPlace,
  answer: URLSearchParams,
): Promise<string> {
  await explain({ childName, what: 'the authorization response' }, async () =>
    validateAuthorizationResponseIssuer({
      iss: answer.get('iss') ?? undefined,
      expectedIssuer: issuer,
      issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
    }),
  );
  const code = answer.get('code');
  const error = answer.get('error');
  if (error !== null) {
    const says = answer.get('error_description');
    const reason = `${quote(issuer)} returned ${quote(error)}`;
    throw signInFailed(childName, says === null ? reason : `${reason}: ${quote(says)}`);
  }
  if (code !== null && code !== '') return code;
  throw signInFailed(childName, 'the authorization response has no code');
}

/** Waits for the authorization response, up to a time limit or until the sign-in is cancelled. */
function inTime(
  { childName, cancellation, limitMs = LIMIT_MS }: SignInOptions,
  { answer }: Callback,
): Promise<URLSearchParams> {
  const tooLate = () =>
    signInFailed(
      childName,
      `the sign-in was not completed in the browser within ${formatDuration(limitMs)}`,
      {
        hint: `Run again: switchboard login ${childName}`,
      },
    );
  return withTimeout(limitMs, cancellation, tooLate, (limited) => limited.race(answer));
}

/**
 * Throws if the URL must not be opened. It comes from a server we don't trust yet, and a system program gets it as
 * an argument: such URLs have been used to start programs.
 */
function checkBrowserAddress(childName: string, address: URL, serverUrl: URL): URL {
  const url = new URL(address.href);
  const refuse = (why: string) =>
    signInFailed(childName, `Switchboard won't open the sign-in page because its URL ${why}`, {
      hint: `It starts with: ${quote(url.href.slice(0, 100))}`,
    });
  if (url.href.length > MAX_URL_CHARS) throw refuse(`is longer than ${MAX_URL_CHARS} characters`);
  if (url.protocol === 'http:') {
    if (!isLoopbackHost(url.hostname) || !isLoopbackHost(serverUrl.hostname))
      throw refuse('is not https');
  } else if (url.protocol !== 'https:') {
    throw refuse('is not https');
  }
  if (url.username !== '' || url.password !== '') throw refuse('contains a user name');
  // The parser already guarantees it. Defense in depth.
  if (!/^[a-z0-9.-]+$|^\[[0-9a-f:.]+\]$/.test(url.hostname)) throw refuse('has an invalid host');
  return url;
}

async function keep(
  childName: string,
  file: string,
  signedIn: StoredSignIn,
  seal: SignInSeal | undefined,
): Promise<void> {
  try {
    await withLock(file, async () => writeSignIn(file, signedIn, seal));
  } catch (cause) {
    if (cause instanceof SwitchboardError) throw cause;
    const reason = `it could not be saved in ${file} (${quote(String(cause))})`;
    throw signInFailed(childName, reason, { cause });
  }
}
