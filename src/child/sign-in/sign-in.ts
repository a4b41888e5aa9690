// Signing a user in to a server: the authorization code flow of OAuth 2.1 with PKCE, a browser and a
// port of this machine to come back to. What comes out is kept in the token store.
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
import { withinLimit } from '../../base/time.ts';
import type { OAuthSettings } from '../../config/config.ts';
import { checkBrowserAddress } from './browser-address.ts';
import { type Callback, openCallback } from './callback.ts';
import { informationOf } from './client.ts';
import { discover, type SignInPlace } from './discover.ts';
import { explain } from './explain.ts';
import { quote, signInFailed } from './failures.ts';
import { withLock } from './lock.ts';
import { createSafeFetch, type Resolve, type SafeFetch } from './safe-fetch.ts';
import {
  canonicalUrl,
  type StoredClient,
  type StoredSignIn,
  tokenFile,
  writeSignIn,
} from './token-store.ts';
import { tokensToKeep } from './tokens.ts';

/** How long somebody may take in the browser. */
const LIMIT_MS = 5 * 60_000;

export interface SignInOptions {
  readonly childName: string;
  /** Variables in it are filled in. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly oauth?: OAuthSettings | undefined;
  /** Where sign-ins are kept. */
  readonly folder: string;
  readonly cancellation: Cancellation;
  /** Brings the user to the address, which has been checked. */
  readonly visit: (address: URL, issuer: string) => Promise<void>;
  readonly resolve?: Resolve | undefined;
  readonly limitMs?: number | undefined;
}

/** Gives what was kept; undefined where the server wants no sign-in. */
export async function signIn(options: SignInOptions): Promise<StoredSignIn | undefined> {
  const { childName, url, headers = {}, folder, oauth = {}, cancellation, resolve } = options;
  const serverUrl = new URL(url);
  const net = createSafeFetch({ childName, serverUrl, cancellation, resolve });
  const place = await discover({ childName, serverUrl, headers, net });
  if (!place) return undefined;
  // Before anything is told to an issuer that we would not send anybody to.
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
  await keep(childName, await tokenFile(folder, url), signedIn);
  return signedIn;
}

/** As whom we come: by the user's settings, or newly registered for this address to come back to. */
async function findClient(
  childName: string,
  { clientId, clientSecret }: OAuthSettings,
  { metadata, issuer }: SignInPlace,
  { redirectUrl }: Callback,
  net: SafeFetch,
): Promise<StoredClient> {
  if (clientId !== undefined) return { client_id: clientId, client_secret: clientSecret };
  if (metadata.registration_endpoint === undefined) {
    throw signInFailed(childName, `${quote(issuer)} does not register programs by itself`, {
      hint: 'Register Switchboard there by hand, with http://127.0.0.1:<port>/callback to come back to, and add to the server: "oauth": {"clientId": "…", "callbackPort": <port>}.',
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
        token_endpoint_auth_method: 'none', // a program on a user's machine cannot keep a secret
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
  const what = `what ${quote(issuer)} says`;
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

/** So that the sign-in can be renewed, where the issuer gives that only to those who ask. */
function withOfflineAccess({ scope, metadata }: SignInPlace): string | undefined {
  if (scope === undefined || scope.split(' ').includes('offline_access')) return scope;
  const isOffered = metadata.scopes_supported?.includes('offline_access') ?? false;
  return isOffered ? `${scope} offline_access` : scope;
}

/** The code in the answer. Who has answered is checked before anything in it is believed. */
async function readAnswer(
  childName: string,
  { metadata, issuer }: SignInPlace,
  answer: URLSearchParams,
): Promise<string> {
  await explain({ childName, what: 'the answer in the browser' }, async () =>
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
    const reason = `${quote(issuer)} answered ${quote(error)}`;
    throw signInFailed(childName, says === null ? reason : `${reason}: ${quote(says)}`);
  }
  if (code !== null && code !== '') return code;
  throw signInFailed(childName, 'the answer in the browser has no code');
}

/** What came back, unless that takes too long or is called off. */
function inTime(
  { childName, cancellation, limitMs = LIMIT_MS }: SignInOptions,
  { answer }: Callback,
): Promise<URLSearchParams> {
  const tooLate = () =>
    signInFailed(childName, `nobody came back from the browser within ${formatDuration(limitMs)}`, {
      hint: `Run again: switchboard login ${childName}`,
    });
  return withinLimit(limitMs, cancellation, tooLate, (limited) => limited.orElse(answer));
}

async function keep(childName: string, file: string, signedIn: StoredSignIn): Promise<void> {
  try {
    await withLock(file, async () => writeSignIn(file, signedIn));
  } catch (cause) {
    if (cause instanceof SwitchboardError) throw cause;
    const reason = `it could not be saved in ${file} (${quote(String(cause))})`;
    throw signInFailed(childName, reason, { cause });
  }
}
