// One HTTP request and the start of its reply. On Node's own client: `fetch` gives up after five
// minutes of silence, whatever the configured timeouts are (docs/decisions/0012).
import {
  type AgentOptions,
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestPlain,
} from 'node:http';
import { Agent as HttpsAgent, request as requestTls } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { guard } from '../base/guard.ts';
import { createTunnelAgent, type ProxyServer, proxyFor, refusedBy, unreachable } from './proxy.ts';

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Aborts the request and the reply. */
  readonly signal: AbortSignal;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Decompressed, unless the request asked for `identity`. */
  readonly body: Readable;
}

export interface HttpClientOptions {
  /** Names the proxy. Without it, connections are direct. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Resolves the names of hosts that are reached without a proxy. */
  readonly lookup?: LookupFunction | undefined;
}

const CONNECT_MS = 10_000;
const MAX_HEADER_BYTES = 64 * 1024;
/**
 * Unused connections are closed before the server closes them: a request that runs into a closing
 * connection fails, and must not be sent again.
 */
const IDLE_MS = 4_000;
const AGENT: AgentOptions = { keepAlive: true, timeout: IDLE_MS, maxSockets: 256 };

export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #plain = new HttpAgent(AGENT);
  readonly #tls = new HttpsAgent(AGENT);
  /** By the proxy's address. */
  readonly #tunnels = new Map<string, HttpAgent>();

  constructor(options: HttpClientOptions = {}) {
    this.#options = options;
  }

  /** Rejects if no reply arrives: with a system, TLS or parser error, or a ProxyError. */
  send(request: HttpRequest): Promise<HttpReply> {
    const { url, headers, body, signal } = request;
    return new Promise((resolve, reject) => {
      const proxy = proxyFor(url, this.#options.env ?? {});
      const sent = this.#open(request, proxy);
      const fail = (error: unknown): void => {
        reject(error);
        sent.destroy();
      };
      const connecting = (socket: Socket): void => {
        if (socket.connecting) limitConnecting(socket);
      };
      const answer = (reply: IncomingMessage): void => {
        const { statusCode: status = 0 } = reply;
        reply.on('error', () => {}); // readers have their own listener; there may be none
        if (proxy && status === 407) return fail(refusedBy(proxy, status));
        const decompressed = decompress(reply, headers['accept-encoding']);
        resolve({ status, headers: reply.headers, body: decompressed });
      };
      const failed = (error: NodeJS.ErrnoException): void => {
        const isProxyDown = error.syscall === 'connect' || error.syscall === 'getaddrinfo';
        reject(proxy && isProxyDown ? unreachable(proxy, error) : error);
      };
      sent.on('error', guard(reject, failed));
      sent.on('socket', guard(fail, connecting));
      sent.on('response', guard(fail, answer));
      const abort = (): void => void sent.destroy();
      signal.addEventListener('abort', abort);
      sent.once('close', () => signal.removeEventListener('abort', abort));
      if (signal.aborted) abort();
      else sent.end(body);
    });
  }

  /** Closes every connection. */
  close(): void {
    for (const agent of [this.#plain, this.#tls, ...this.#tunnels.values()]) agent.destroy();
  }

  #open({ method, url, headers }: HttpRequest, proxy: ProxyServer | undefined): ClientRequest {
    const options = { method, headers, maxHeaderSize: MAX_HEADER_BYTES, rejectUnauthorized: true };
    const { lookup } = this.#options;
    if (url.protocol === 'https:') {
      const direct = { agent: this.#tls, ...(lookup && { lookup }) };
      return requestTls(url, { ...options, ...(proxy ? { agent: this.#tunnel(proxy) } : direct) });
    }
    if (!proxy)
      return requestPlain(url, { ...options, agent: this.#plain, ...(lookup && { lookup }) });
    const forwarded = {
      ...options,
      path: `${url.origin}${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, ...proxy.headers },
    };
    return proxy.url.protocol === 'https:'
      ? requestTls(proxy.url, { ...forwarded, agent: this.#tls })
      : requestPlain(proxy.url, { ...forwarded, agent: this.#plain });
  }

  #tunnel(proxy: ProxyServer): HttpAgent {
    const { href } = proxy.url;
    const known = this.#tunnels.get(href);
    if (known) return known;
    const agent = createTunnelAgent({ proxy, inside: 'tls', connectMs: CONNECT_MS }, AGENT);
    this.#tunnels.set(href, agent);
    return agent;
  }
}

function limitConnecting(socket: Socket): void {
  const late: NodeJS.ErrnoException = new Error('No connection within ten seconds.');
  late.code = 'ETIMEDOUT';
  const timer = setTimeout(() => socket.destroy(late), CONNECT_MS);
  socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => clearTimeout(timer));
  socket.once('close', () => clearTimeout(timer));
}

/** A Map: a server may send any encoding, even `constructor`. */
const DECOMPRESSORS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

function decompress(reply: IncomingMessage, accepted: string | undefined): Readable {
  const encoding = reply.headers['content-encoding']?.trim().toLowerCase() ?? '';
  const decompressor = accepted === 'identity' ? undefined : DECOMPRESSORS.get(encoding)?.();
  if (!decompressor) return reply;
  decompressor.on('error', () => {}); // same as for the reply
  // The pipeline ends the decompressor the same way as the reply, and callers read the decompressor.
  return pipeline(reply, decompressor, () => {});
}
