// One HTTP request and the beginning of its reply. Node's own client, because `fetch` gives up after
// five minutes of silence and cannot be told otherwise, while our limits are the configuration's.
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { guard } from '../../base/guard.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Ends the request, and the reply with it. */
  readonly signal: AbortSignal;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Unpacked. */
  readonly body: Readable;
}

const CONNECT_MS = 10_000;
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_SOCKETS = 256;
/**
 * A connection that nobody uses is closed before the server does it: a request that meets a
 * connection which is just being closed fails, and could not be sent again.
 */
const IDLE_MS = 4_000;

export class HttpClient {
  readonly #plain = new HttpAgent({ keepAlive: true, timeout: IDLE_MS, maxSockets: MAX_SOCKETS });
  readonly #tls = new HttpsAgent({ keepAlive: true, timeout: IDLE_MS, maxSockets: MAX_SOCKETS });

  /** Rejects where no reply came: with what the operating system, TLS or the parser says. */
  send({ method, url, headers, body, signal }: HttpRequest): Promise<HttpReply> {
    return new Promise((resolve, reject) => {
      const isTls = url.protocol === 'https:';
      const options = { method, headers, maxHeaderSize: MAX_HEADER_BYTES };
      const request = isTls
        ? httpsRequest(url, { ...options, agent: this.#tls, rejectUnauthorized: true })
        : httpRequest(url, { ...options, agent: this.#plain });
      const fail = (error: unknown): void => {
        reject(error);
        request.destroy();
      };
      const connecting = (socket: Socket): void => {
        if (socket.connecting) limitConnecting(socket, isTls);
      };
      const answer = (reply: IncomingMessage): void => {
        reply.on('error', () => {}); // those who read it hear of it; nobody may be reading
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: unpack(reply) });
      };
      request.on('error', reject);
      request.on('socket', guard(fail, connecting));
      request.on('response', guard(fail, answer));
      const abort = (): void => void request.destroy();
      signal.addEventListener('abort', abort);
      request.once('close', () => signal.removeEventListener('abort', abort));
      if (signal.aborted) abort();
      else request.end(body);
    });
  }

  /** Ends every connection. */
  close(): void {
    this.#plain.destroy();
    this.#tls.destroy();
  }
}

function limitConnecting(socket: Socket, isTls: boolean): void {
  const late: NodeJS.ErrnoException = new Error('No connection within ten seconds.');
  late.code = 'ETIMEDOUT';
  const timer = setTimeout(() => socket.destroy(late), CONNECT_MS);
  socket.once(isTls ? 'secureConnect' : 'connect', () => clearTimeout(timer));
  socket.once('close', () => clearTimeout(timer));
}

/** A map: a server may name any encoding, `constructor` included. */
const UNPACKERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** What `unpack` knows, for the header that says so. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

function unpack(reply: IncomingMessage): Readable {
  const encoding = reply.headers['content-encoding']?.trim().toLowerCase() ?? '';
  const unpacker = UNPACKERS.get(encoding)?.();
  if (!unpacker) return reply;
  unpacker.on('error', () => {}); // as above
  // Its end, whole or not, is the unpacker's, which is what is read.
  return pipeline(reply, unpacker, () => {});
}
