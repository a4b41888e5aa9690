// An HTTP server whose MCP behaviour the test controls. By default it behaves well: JSON answers, no session, no
// stream of its own. It records everything it receives.
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Recorded {
  readonly httpMethod: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The raw body. */
  readonly text: string;
  /** The message in it, if there is one. */
  readonly message: { id?: unknown; method?: string; params?: Record<string, unknown> };
}

export type Handler = (request: Recorded, reply: ServerResponse) => unknown;

export interface OddOptions {
  /** Sees every request first. If it returns true, it has answered the request itself. */
  readonly before?: (request: Recorded, reply: ServerResponse) => boolean;
  /** Answers requests other than the handshake. */
  readonly onRequest?: Handler;
  readonly onGet?: Handler;
  /** Gives every handshake its own session. */
  readonly hasSessions?: boolean;
  readonly tls?: { readonly key: string; readonly cert: string };
}

export class OddServer {
  readonly requests: Recorded[] = [];
  readonly sessions: string[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #options: OddOptions;
  #url = '';

  static async start(options: OddOptions = {}): Promise<OddServer> {
    const odd = new OddServer(options);
    const handle = (request: IncomingMessage, reply: ServerResponse): void => {
      void odd.#handle(request, reply);
    };
    const server = options.tls ? createTlsServer(options.tls, handle) : createServer(handle);
    server.on('connection', (socket: Socket) => {
      odd.#sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => odd.#sockets.delete(socket));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    odd.#url = `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`;
    onTestFinished(() => {
      for (const socket of odd.#sockets) socket.destroy();
      server.close();
    });
    return odd;
  }

  private constructor(options: OddOptions) {
    this.#options = options;
  }

  get origin(): string {
    return this.#url;
  }

  get url(): string {
    return `${this.#url}/mcp`;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  /** How many messages with this method have arrived. */
  count(method: string): number {
    return this.requests.filter(({ message }) => message.method === method).length;
  }

  async #handle(incoming: IncomingMessage, reply: ServerResponse): Promise<void> {
    reply.on('error', () => {});
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    const { method: httpMethod = '', url: path = '', headers } = incoming;
    const message = (text === '' ? {} : JSON.parse(text)) as Recorded['message'];
    const request = { httpMethod, path, headers, text, message };
    this.requests.push(request);
    if (this.#options.before?.(request, reply) === true) return;
    this.#answer(request, reply);
  }

  #answer(request: Recorded, reply: ServerResponse): void {
    const { httpMethod, message } = request;
    const { onGet, onRequest, hasSessions } = this.#options;
    if (httpMethod === 'GET') {
      if (onGet) onGet(request, reply);
      else reply.writeHead(405).end();
    } else if (httpMethod === 'DELETE') {
      reply.writeHead(200).end();
    } else if (message.method === 'initialize') {
      if (hasSessions) {
        this.sessions.push(`session-${this.sessions.length + 1}`);
        reply.setHeader('Mcp-Session-Id', this.sessions.at(-1) ?? '');
      }
      sendJson(reply, result(message.id, GREETING));
    } else if (message.id === undefined || message.method === undefined) {
      reply.writeHead(202).end();
    } else if (onRequest) {
      onRequest(request, reply);
    } else {
      sendJson(reply, result(message.id, `{"content":[{"type":"text","text":"done"}]}`));
    }
  }
}

const GREETING =
  '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"odd","version":"1"}}';

/** The text of an answer; `text` is its result as JSON. */
export function result(id: unknown, text: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`;
}

export function sendJson(reply: ServerResponse, text: string, status = 200): void {
  reply.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

/** Starts a stream of events; writes are sent at once. */
export function beginEvents(reply: ServerResponse): ServerResponse {
  reply.writeHead(200, { 'content-type': 'text/event-stream' });
  reply.flushHeaders();
  return reply;
}

export function event(data: string, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}
