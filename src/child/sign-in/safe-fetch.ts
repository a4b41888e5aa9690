// How the documents of a sign-in are fetched. Their addresses come from a server that we do not
// trust yet, so that they must not lead into the user's own network: https only, no redirects, and
// only addresses on the internet or of the kind that the server itself has. A name is resolved once
// and the address that was checked is the one that is connected to.
//
// What is allowed, precisely:
// - the host that the user has configured, wherever it is;
// - hosts on the internet;
// - where the configured host is on this machine (loopback), other ports of this machine, and there
//   also plain http; where it is at a private address, other private addresses.
import { lookup as lookupName } from 'node:dns/promises';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { Cancellation } from '../../base/cancellation.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { guard } from '../../base/guard.ts';
import { formatDuration } from '../../base/text.ts';
import { withinLimit } from '../../base/time.ts';
import { VERSION } from '../../base/version.ts';
import { type AddressKind, kindOfAddress } from './addresses.ts';
import { quote, signInFailed } from './failures.ts';

const LARGEST_BYTES = 1 << 20;
const LIMIT_MS = 5_000;

export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface SafeFetchOptions {
  readonly childName: string;
  /** The address that the user has configured. */
  readonly serverUrl: URL;
  /** Ends what is under way. */
  readonly cancellation?: Cancellation | undefined;
  /** How names become addresses; the system's way unless set. */
  readonly resolve?: Resolve | undefined;
  /** Milliseconds for each document. */
  readonly limitMs?: number | undefined;
}

export interface SafeFetch {
  /** As the global fetch, for what the SDK asks of it. A redirect is answered as it is. */
  readonly fetch: (address: string | URL, init?: RequestInit) => Promise<Response>;
  /** Status and headers of an answer whose body may have no end. */
  readonly probe: (address: string | URL, init?: RequestInit) => Promise<Response>;
}

export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  const { childName, serverUrl, cancellation = new Cancellation(), limitMs = LIMIT_MS } = options;
  const resolve = options.resolve ?? resolveName;
  let home: Promise<Place> | undefined;

  /** The addresses to connect to; throws where one of them is not allowed. */
  const allowedAddresses = async (url: URL): Promise<readonly string[]> => {
    const shown = `${url.protocol}//${quote(url.host)}`;
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      throw signInFailed(childName, `it leads to ${quote(url.href)}, and only https is asked`);
    }
    if (url.username !== '' || url.password !== '') {
      throw signInFailed(childName, `it leads to an address at ${shown} that has a password in it`);
    }
    // Resolved once: a name that changes meanwhile must not change what the others may do.
    home ??= findPlace(serverUrl.hostname, resolve);
    const server = await home;
    const isServer = url.hostname === serverUrl.hostname;
    const place = isServer ? server : await findPlace(url.hostname, resolve);
    if (url.protocol === 'http:' && !(place.kind === 'loopback' && server.kind === 'loopback')) {
      throw signInFailed(childName, `it leads to ${shown}, and only https is asked`, {
        hint: 'Plain http is for servers on this machine.',
      });
    }
    const refused = isServer ? undefined : place.kinds.find((kind) => !isAllowed(kind, server));
    if (refused !== undefined) {
      throw signInFailed(childName, `it leads to ${shown}, which is ${WORDS[refused]}`, {
        hint: 'A server may send you to the internet, or to the kind of network that it is in itself.',
      });
    }
    return place.addresses;
  };

  const send = async (address: string | URL, init: RequestInit, body: 'read' | 'drop') => {
    const url = parseUrl(childName, address);
    const tooLate = () =>
      signInFailed(childName, `${quote(url.host)} did not answer within ${formatDuration(limitMs)}`);
    try {
      return await withinLimit(limitMs, cancellation, tooLate, async (end) => {
        const addresses = await end.orElse(allowedAddresses(url));
        end.throwIfCancelled();
        return exchange(url, init, { addresses, body, end, childName });
      });
    } catch (error) {
      if (error instanceof SwitchboardError) throw error;
      const reason = `${quote(url.host)} could not be reached (${quote(reasonOf(error))})`;
      throw signInFailed(childName, reason, { cause: error });
    }
  };

  return {
    fetch: (address, init = {}) => send(address, init, 'read'),
    probe: (address, init = {}) => send(address, init, 'drop'),
  };
}

/** Where a host is. */
interface Place {
  readonly addresses: readonly string[];
  readonly kinds: readonly AddressKind[];
  /** The one kind of all its addresses; one that is in several networks counts as public. */
  readonly kind: AddressKind;
}

async function findPlace(hostname: string, resolve: Resolve): Promise<Place> {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  const addresses = isIP(literal) === 0 ? await resolve(hostname) : [literal];
  const kinds = [...new Set(addresses.map(kindOfAddress))];
  const [only = 'special', ...others] = kinds;
  return { addresses, kinds, kind: others.length === 0 ? only : 'public' };
}

function isAllowed(kind: AddressKind, server: Place): boolean {
  if (kind === 'public') return true;
  return (kind === 'loopback' || kind === 'private') && kind === server.kind;
}

const WORDS: Record<AddressKind, string> = {
  public: 'on the internet',
  loopback: 'on this machine',
  private: 'inside a private network',
  'link-local': 'inside the local network',
  special: 'no address of a server',
};

async function resolveName(hostname: string): Promise<string[]> {
  const found = await lookupName(hostname, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

function parseUrl(childName: string, address: string | URL): URL {
  try {
    return new URL(address);
  } catch (cause) {
    throw signInFailed(childName, `it leads to ${quote(String(address))}, which is no address`, {
      cause,
    });
  }
}

interface ExchangeOptions {
  readonly childName: string;
  readonly addresses: readonly string[];
  readonly body: 'read' | 'drop';
  readonly end: Cancellation;
}

/** One request and its answer, over a connection of its own to one of the addresses. */
function exchange(url: URL, init: RequestInit, options: ExchangeOptions): Promise<Response> {
  const { childName, addresses, end } = options;
  const headers = Object.fromEntries(new Headers(init.headers));
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method: init.method ?? 'GET',
      // Without compression a megabyte is a megabyte.
      headers: {
        ...headers,
        'accept-encoding': 'identity',
        'user-agent': `switchboard/${VERSION}`,
      },
      agent: false,
      lookup: lookupIn(addresses),
      rejectUnauthorized: true, // whatever the environment says: tokens travel here
    });
    const stop = (): void => void request.destroy(end.reason);
    end.listen(stop);
    request.once('close', () => end.unlisten(stop));
    request.on('error', reject);
    const fail = (error: unknown): void => {
      reject(error);
      request.destroy();
    };
    const read = (response: IncomingMessage): void => {
      response.on('error', reject);
      const { statusCode: status = 0 } = response;
      // Throws on an invalid status.
      const answer = (text: string | null): void =>
        resolve(new Response(text, { status, headers: answerHeaders(response.headers, status) }));
      if (options.body === 'drop' || status === 204 || status === 205 || status === 304) {
        answer(null);
        request.destroy();
        return;
      }
      const chunks: Buffer[] = [];
      let bytes = 0;
      const keep = (chunk: Buffer): void => {
        bytes += chunk.length;
        if (bytes > LARGEST_BYTES) {
          throw signInFailed(childName, `${quote(url.host)} sent more than a megabyte`);
        }
        chunks.push(chunk);
      };
      const done = (): void => answer(Buffer.concat(chunks).toString('utf8'));
      response.on('data', guard(fail, keep));
      response.once('end', guard(fail, done));
    };
    request.once('response', guard(fail, read));
    request.end(bodyOf(init));
  });
}

/**
 * Resolves every name to the addresses that were checked. Calls back on the next tick: a connection that
 * fails at once would otherwise emit its error before Node listens for it, and end the process.
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

/** Those of the answer; of a redirect not its target, so that nobody follows it. */
function answerHeaders(received: NodeJS.Dict<string | string[]>, status: number): Headers {
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
  throw new TypeError('Only texts and forms are sent.');
}

/** Why there is no connection. An error of several attempts has its reasons inside. */
function reasonOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { code, message } = first as NodeJS.ErrnoException;
  return code ?? message;
}
