// WebSocket: each message is a text frame. When the socket closes, the connection ends.
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { SwitchboardError } from '../../base/errors.ts';
import { guard } from '../../base/guard.ts';
import { VERSION } from '../../base/version.ts';
import { createTunnelAgent, proxyFor } from '../../net/proxy.ts';
import { parseWithin } from '../../rpc/json-text.ts';
import {
  explainDenial,
  explainNetworkError,
  explainServerRedirect,
  explainStatus,
  quoteServer,
} from './failures.ts';
import { readRefusal, redirectTarget } from './reply.ts';
import type { RemoteServer } from './server.ts';
import type { Wire, WireEvents } from './wire.ts';

export interface WebSocketOptions extends WireEvents {
  readonly server: RemoteServer;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Names the proxy. Without it, connections are direct. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

const CONNECT_MS = 10_000;
/** How much unsent data may pile up. */
const UNSENT_BYTES = 64 << 20;
/** The code `ws` uses for a frame beyond its limit. */
const TOO_LARGE = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';

export class WebSocketWire implements Wire {
  readonly #options: WebSocketOptions;
  #socket: WebSocket | undefined;
  #tunnel: Agent | undefined;
  #waiting: string[] = [];
  #isOpen = false;
  #isPaused = false;
  #hasEnded = false;

  constructor(options: WebSocketOptions) {
    this.#options = options;
    this.#connect()
      .catch((error: unknown) => this.#fail(error))
      .catch(options.onBug);
  }

  send(json: string): void {
    if (!this.#isOpen) this.#waiting.push(json);
    else this.#socket?.send(json);
    const unsent = this.#socket?.bufferedAmount ?? 0;
    if (unsent > Math.max(UNSENT_BYTES, 2 * this.#options.server.messageBytes)) {
      this.#end(() => this.#options.onEnd({ kind: 'unread-input', bytes: unsent }));
    }
  }

  pause(): void {
    this.#isPaused = true;
    if (this.#isOpen) this.#socket?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#socket?.resume();
  }

  close(): Promise<void> {
    this.#hasEnded = true;
    this.#terminate();
    return Promise.resolve();
  }

  async #connect(): Promise<void> {
    const { server, url } = this.#options;
    const refusal = await this.#open();
    if (refusal) throw await explainRefusal(server, url, refusal);
  }

  /** Resolves when the socket is open, or with the reply if the server refuses. */
  async #open(): Promise<IncomingMessage | undefined> {
    const { server, url, headers, env = {} } = this.#options;
    const { WebSocket } = await import('ws');
    if (this.#hasEnded) return undefined;
    const proxy = proxyFor(url, env);
    const inside = url.protocol === 'wss:' ? 'tls' : 'plain';
    this.#tunnel = proxy && createTunnelAgent({ proxy, inside, connectMs: CONNECT_MS }, {});
    const socket = new WebSocket(url, 'mcp', {
      headers: { 'user-agent': `switchboard/${VERSION}`, ...headers },
      followRedirects: false,
      handshakeTimeout: CONNECT_MS,
      maxPayload: server.messageBytes,
      perMessageDeflate: false,
      rejectUnauthorized: true,
      agent: this.#tunnel,
    });
    this.#socket = socket;
    return new Promise((resolve, reject) => {
      socket.on('error', reject);
      socket.on('unexpected-response', (_: ClientRequest, reply: IncomingMessage) =>
        resolve(reply),
      );
      const opened = (): void => {
        this.#watch(socket);
        resolve(undefined);
      };
      socket.once('open', guard(reject, opened));
    });
  }

  #watch(socket: WebSocket): void {
    const { server, onMessage, onEnd, onBug } = this.#options;
    this.#isOpen = true;
    const read = (data: Buffer): void => {
      const text = data.toString();
      const value = parseWithin(text, server.messageShape);
      if (value !== undefined) onMessage(text, value);
    };
    const failed = ({ code }: NodeJS.ErrnoException): void => {
      if (code === TOO_LARGE) this.#end(() => onEnd({ kind: 'oversized' }));
    };
    const closed = (code: number, reason: Buffer): void =>
      this.#disconnect(code, reason.toString());
    socket.on('message', guard(onBug, read));
    socket.on('error', guard(onBug, failed));
    socket.once('close', guard(onBug, closed));
    if (this.#isPaused) socket.pause();
    for (const json of this.#waiting) socket.send(json);
    this.#waiting = [];
  }

  #disconnect(code: number, words: string): void {
    const { server, onEnd } = this.#options;
    const why = quoteServer(server, words);
    const reason = `code ${code}${why === '' ? '' : `: ${why}`}`;
    this.#end(() => onEnd({ kind: 'disconnected', reason }));
  }

  #fail(error: unknown): void {
    const { server, onEnd } = this.#options;
    const failure = error instanceof SwitchboardError ? error : explainNetworkError(server, error);
    this.#end(() => onEnd({ kind: 'disconnected', reason: undefined }, failure));
  }

  #end(tell: () => void): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    tell();
    this.#terminate();
  }

  #terminate(): void {
    this.#socket?.terminate();
    this.#tunnel?.destroy();
  }
}

async function explainRefusal(
  server: RemoteServer,
  url: URL,
  message: IncomingMessage,
): Promise<SwitchboardError> {
  const { statusCode: status = 0, headers } = message;
  const reply = { status, headers, body: message };
  const refusal = await readRefusal(reply, server);
  const denial = explainDenial(server, reply);
  if (denial) return denial;
  const isRedirect = status >= 300 && status < 400;
  return isRedirect
    ? explainServerRedirect(server, status, redirectTarget(reply, url))
    : explainStatus(server, refusal);
}
