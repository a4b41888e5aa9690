// Fetches the documents of a sign-in. Their URLs come from a server we don't trust yet, so they must
// not lead into the user's own network. Allowed are:
// - the host the user configured, wherever it is;
// - hosts on the internet, over https;
// - if the configured host is on this machine, other ports of this machine, also over plain http;
//   if it has a private address, other private addresses.
// Redirects are not followed. A name is resolved once, and the connection goes to the address that was
// checked. Only a proxy resolves the name again; it may know names this machine doesn't.
import { lookup as lookupName } from 'node:dns/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import { Cancellation } from '../../base/cancellation.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { formatDuration } from '../../base/text.ts';
import { withTimeout } from '../../base/time.ts';
import { VERSION } from '../../base/version.ts';
import { type AddressKind, kindOfAddress } from '../../net/address-kind.ts';
import { Oversize, readText } from '../../net/body.ts';
import { HttpClient } from '../../net/http-client.ts';
import { proxyFor } from '../../net/proxy.ts';
import { quote, signInFailed } from './failures.ts';

const MAX_BYTES = 1 << 20;
const LIMIT_MS = 5_000;

export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface SafeFetchOptions {
  readonly childName: string;
  /** The URL that the user configured. */
  readonly serverUrl: URL;
  readonly cancellation?: Cancellation | undefined;
  /** Resolves host names; the system's resolver by default. */
  readonly resolve?: Resolve | undefined;
  /** Milliseconds for each document. */
  readonly limitMs?: number | undefined;
  /** Names the proxy, if there is one. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

export interface SafeFetch {
  /** Like the global fetch, as far as the SDK uses it. */
  readonly fetch: (address: string | URL, init?: RequestInit) => Promise<Response>;
  /** Status and headers only: the body may never end. */
  readonly probe: (address: string | URL, init?: RequestInit) => Promise<Response>;
}

export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  const { childName, serverUrl, cancellation = new Cancellation(), limitMs = LIMIT_MS } = options;
  const { resolve = resolveName, env = {} } = options;
  let home: Promise<HostLocation> | undefined;

  /** The addresses to connect to; throws if one of them is not allowed. */
  const allowedAddresses = async (url: URL): Promise<readonly string[]> => {
    const shown = `${url.protocol}//${quote(url.host)}`;
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      throw signInFailed(childName, `it points to ${quote(url.href)}, but only https is allowed`);
    }
    if (url.username !== '' || url.password !== '') {
      throw signInFailed(childName, `it points to a URL at ${shown} that contains a password`);
    }
    // Resolved once: if the name changes its address, that must not change what others may do.
    home ??= locate(serverUrl, resolve, env);
    const server = await home;
    const isServer = url.hostname === serverUrl.hostname;
    const location = isServer ? server : await locate(url, resolve, env);
    if (url.protocol === 'http:' && !(location.kind === 'loopback' && server.kind === 'loopback')) {
      throw signInFailed(childName, `it points to ${shown}, but only https is allowed`, {
        hint: 'Plain http is only for servers on this machine.',
      });
    }
    const refused = isServer ? undefined : location.kinds.find((kind) => !isAllowed(kind, server));
    if (refused !== undefined) {
      throw signInFailed(childName, `it points to ${shown}, which is ${WORDS[refused]}`, {
        hint: 'A server may only point to the internet or to the kind of network it is in itself.',
      });
    }
    return location.addresses;
  };

  const send = async (address: string | URL, init: RequestInit, body: 'read' | 'drop') => {
    const url = parseUrl(childName, address);
    const tooLate = () =>
      signInFailed(
        childName,
        `${quote(url.host)} did not respond within ${formatDuration(limitMs)}`,
      );
    try {
      return await withTimeout(limitMs, cancellation, tooLate, async (limited) => {
        const addresses = await limited.race(allowedAddresses(url));
        limited.throwIfCancelled();
        const client = new HttpClient({ env, lookup: lookupIn(addresses) });
        try {
          return await limited.race(exchange(client, url, init, body));
        } finally {
          client.close();
        }
      });
    } catch (error) {
      if (error instanceof SwitchboardError) throw error;
      if (error instanceof Oversize) {
        throw signInFailed(childName, `${quote(url.host)} sent more than a megabyte`);
      }
      const reason = `${quote(url.host)} could not be reached (${quote(reasonOf(error))})`;
      throw signInFailed(childName, reason, { cause: error });
    }
  };

  return {
    fetch: (address, init = {}) => send(address, init, 'read'),
    probe: (address, init = {}) => send(address, init, 'drop'),
  };
}

interface HostLocation {
  readonly addresses: readonly string[];
  readonly kinds: readonly AddressKind[];
  /** The kind of all its addresses; if they differ, it counts as public. */
  readonly kind: AddressKind;
}

async function locate(url: URL, resolve: Resolve, env: NodeJS.ProcessEnv): Promise<HostLocation> {
  const literal = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const addresses = isIP(literal) === 0 ? await resolveFor(url, resolve, env) : [literal];
  const kinds = [...new Set(addresses.map(kindOfAddress))];
  const [only = 'special', ...others] = kinds;
  return { addresses, kinds, kind: others.length === 0 ? only : 'public' };
}

/** Behind a proxy, names may exist that only the proxy can resolve. */
async function resolveFor(
  url: URL,
  resolve: Resolve,
  env: NodeJS.ProcessEnv,
): Promise<readonly string[]> {
  try {
    return await resolve(url.hostname);
  } catch (error) {
    if (proxyFor(url, env) === undefined) throw error;
    return [];
  }
}

function isAllowed(kind: AddressKind, server: HostLocation): boolean {
  if (kind === 'public') return true;
  return (kind === 'loopback' || kind === 'private') && kind === server.kind;
}

const WORDS: Record<AddressKind, string> = {
  public: 'on the internet',
  loopback: 'on this machine',
  private: 'in a private network',
  'link-local': 'in the local network',
  special: 'a reserved address',
};

async function resolveName(hostname: string): Promise<string[]> {
  const found = await lookupName(hostname, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

function parseUrl(childName: string, address: string | URL): URL {
  try {
    return new URL(address);
  } catch (cause) {
    const reason = `it points to ${quote(String(address))}, which is not a valid URL`;
    throw signInFailed(childName, reason, { cause });
  }
}

async function exchange(
  client: HttpClient,
  url: URL,
  init: RequestInit,
  body: 'read' | 'drop',
): Promise<Response> {
  const reply = await client.send({
    method: init.method ?? 'GET',
    url,
    headers: {
      ...Object.fromEntries(new Headers(init.headers)),
      'accept-encoding': 'identity', // so that a megabyte stays a megabyte
      'user-agent': `switchboard/${VERSION}`,
    },
    body: bodyOf(init),
    signal: new AbortController().signal, // closing the client ends it
  });
  const { status } = reply;
  const headers = headersOf(reply.headers, status);
  const isEmpty = body === 'drop' || status === 204 || status === 205 || status === 304;
  const text = isEmpty ? null : await readText(reply.body, MAX_BYTES);
  return new Response(text, { status, headers });
}

/**
 * Resolves every name to the addresses that were checked. Calls back on the next tick: otherwise a
 * connection that fails at once would emit its error before Node listens for it, and crash the process.
 */
function lookupIn(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (hostname, { all }, callback) => {
    const [first] = found;
    if (first === undefined) process.nextTick(callback, new Error(`${hostname} has no address.`));
    else if (all === true) process.nextTick(callback, null, found);
    else process.nextTick(callback, null, first.address, first.family);
  };
}

/** Without a redirect's target, so that it can't be followed. */
function headersOf(received: IncomingHttpHeaders, status: number): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received)) {
    if (name === 'location' && status >= 300 && status < 400) continue;
    for (const single of [value ?? []].flat()) headers.append(name, single);
  }
  return headers;
}

function bodyOf({ body }: RequestInit): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('Only strings and forms can be sent.');
}

/** If several attempts failed, the reason for the first. */
function reasonOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { code, message } = first as NodeJS.ErrnoException;
  return code ?? message;
}
