// Hosts that reach us over HTTP. What every request must pass is in gate.ts; what follows depends on
// the era that the request belongs to.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeBug, SwitchboardError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { type Era, MODERN_REVISION, SESSION_NOT_FOUND } from '../../mcp/eras.ts';
import { formatHost, type ListenAddress, urlOf } from './address.ts';
import { checkBodyHeaders, readBody } from './body.ts';
import { classify, versionHeader } from './era.ts';
import type { OpenSession, ToolSchema } from './exchange.ts';
import { checkGate, HEALTH_PATH, MCP_PATH, pathOf } from './gate.ts';
import type { HandshakeSession } from './handshake-session.ts';
import { type Body, isBatch, isRefusal, parseMessages } from './incoming.ts';
import { checkMirroredHeaders } from './mirrored-headers.ts';
import { type BreakOff, serveModernRequest } from './modern-request.ts';
import { badRequest, type Refusal, refusal, sendRefusal } from './refusal.ts';
import type { ReplyTimes } from './reply.ts';
import { sendJson, sendNothing } from './response.ts';
import { Sessions } from './sessions.ts';

export interface HttpHostOptions extends ListenAddress {
  /** What clients must show; undefined if they need not show anything. */
  readonly token: string | undefined;
  readonly messageBytes: number;
  readonly openSession: OpenSession;
  /** The eras that `openSession` knows. */
  readonly eras: readonly Era[];
  readonly toolSchema: ToolSchema;
  readonly log: Log;
  readonly limits?: Partial<HttpLimits>;
}

export interface HttpLimits extends ReplyTimes {
  /** Connections at once; more are closed as they come. */
  readonly connections: number;
  /** Milliseconds until the headers of a request must have come. */
  readonly headersMs: number;
  /** Milliseconds until a request must have come, with its body. */
  readonly requestMs: number;
  /** Milliseconds that an idle connection is kept for the next request. */
  readonly idleConnectionMs: number;
  /** Milliseconds after which a session ends that nobody uses. */
  readonly sessionIdleMs: number;
}

export interface HttpHost extends AsyncDisposable {
  /** Where hosts find it. */
  readonly url: string;
  readonly port: number;
}

const LIMITS: HttpLimits = {
  connections: 1_024,
  headersMs: 10_000,
  requestMs: 60_000,
  idleConnectionMs: 30_000,
  sessionIdleMs: 30 * 60_000,
  keepAliveMs: 5_000,
  slowAnswerMs: 15_000,
};
const HEADER_BYTES = 16 << 10;
const MOST_HEADERS = 100;
/** A flood of connections is not to become a flood of lines. */
const TELL_AGAIN_MS = 60_000;
/** At the end, for responses that are on their way. */
const LAST_RESPONSES_MS = 500;

const ENDING: Refusal = refusal(503, 'Switchboard is ending.');

/** Listens until it is disposed of. */
export async function openHttpHost(options: HttpHostOptions): Promise<HttpHost> {
  const { log } = options;
  const limits = { ...LIMITS, ...options.limits };
  const server = createServer({
    maxHeaderSize: HEADER_BYTES,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.min(5_000, limits.headersMs / 2),
    keepAliveTimeout: limits.idleConnectionMs,
    noDelay: true,
  });
  server.maxHeadersCount = MOST_HEADERS;
  server.maxConnections = limits.connections;
  let toldAt = -Infinity;
  server.on('drop', () => {
    server.closeIdleConnections();
    if (performance.now() - toldAt < TELL_AGAIN_MS) return;
    toldAt = performance.now();
    log.warn(`more than ${limits.connections} connections over HTTP: some were turned away.`);
  });
  const port = await listen(server, options);
  const front = new Front({ ...options, port }, limits);
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    front.serve(request, response).catch((error: unknown) => {
      log.error(`HTTP: ${describeBug(error)}`);
      response.destroy();
    });
  };
  server.on('request', serve);
  server.on('checkContinue', serve); // the body is only asked for once it is wanted
  server.on('error', (error) => log.error(`HTTP: ${error.message}`));
  return {
    url: urlOf({ ...options, port }, MCP_PATH),
    port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      front.close();
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), LAST_RESPONSES_MS);
      await closed;
      clearTimeout(cut);
    },
  };
}

async function listen(server: Server, { host, port }: ListenAddress): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const where = `${formatHost(host)}:${port}`;
      const reason = cause.code === 'EADDRINUSE' ? 'another program uses it' : cause.message;
      reject(
        new SwitchboardError('LISTEN_FAILED', `Cannot listen at ${where}: ${reason}.`, {
          hint: 'Choose another with --port or --host; --port 0 takes one that is free.',
          cause,
        }),
      );
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

/** What is done for requests, once we listen. */
class Front {
  readonly #options: HttpHostOptions;
  readonly #limits: HttpLimits;
  readonly #sessions: Sessions;
  readonly #modern = new Set<BreakOff>();
  #isClosed = false;

  constructor(options: HttpHostOptions, limits: HttpLimits) {
    const { openSession, log } = options;
    const { keepAliveMs, slowAnswerMs, sessionIdleMs: idleMs } = limits;
    this.#options = options;
    this.#limits = limits;
    this.#sessions = new Sessions({ openSession, keepAliveMs, slowAnswerMs, idleMs, log });
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {}); // the client has gone, which `close` says too
    const refused = await this.#serve(request, response);
    if (refused) sendRefusal(response, refused);
  }

  close(): void {
    this.#isClosed = true;
    this.#sessions.close(ENDING);
    for (const breakOff of this.#modern) breakOff(ENDING);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<Refusal | undefined> {
    const { token } = this.#options;
    const refused = checkGate(request, { token, address: this.#options });
    if (refused) return refused;
    if (this.#isClosed) return ENDING;
    switch (pathOf(request)) {
      case HEALTH_PATH:
        return this.#serveHealth(request, response);
      case MCP_PATH:
        return this.#serveMcp(request, response);
      default:
        return refusal(404, `There is nothing here. MCP is spoken at ${MCP_PATH}.`);
    }
  }

  #serveHealth({ method }: IncomingMessage, response: ServerResponse): Refusal | undefined {
    if (method !== 'GET' && method !== 'HEAD') return notAllowed('GET, HEAD');
    sendJson(response, 200, '{"status":"ok"}');
    return undefined;
  }

  async #serveMcp(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Refusal | undefined> {
    const { method = '' } = request;
    switch (method) {
      case 'POST':
        return this.#servePost(request, response);
      case 'GET':
      case 'DELETE':
        return this.#serveSession(request, response);
      default:
        return notAllowed('GET, POST, DELETE');
    }
  }

  /** GET and DELETE, which only sessions with handshake know. */
  #serveSession(request: IncomingMessage, response: ServerResponse): Refusal | undefined {
    const { method, headers } = request;
    const body = checkNoBody(request);
    if (body) return body;
    if (versionHeader(headers) === MODERN_REVISION) return notAllowed('POST');
    const session = this.#findSession(request);
    if (isRefusal(session)) return session;
    if (method === 'DELETE') {
      this.#sessions.end(session);
      sendNothing(response, 204);
      return undefined;
    }
    if (!accepts(headers.accept, 'text/event-stream')) {
      return refusal(406, 'Accept must include text/event-stream.');
    }
    return session.openStream(request, response);
  }

  async #servePost(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Refusal | undefined> {
    const { messageBytes, eras } = this.#options;
    const { headers } = request;
    const refused = checkBodyHeaders(request, messageBytes);
    if (refused) return refused;
    if (headers.expect !== undefined) response.writeContinue();
    const text = await readBody(request, messageBytes);
    if (text === undefined) return undefined;
    if (typeof text !== 'string') return text;
    if (this.#isClosed) return ENDING;
    const body = parseMessages(text);
    if (isRefusal(body)) return body;
    const classified = classify(body, headers, eras);
    if (isRefusal(classified)) return classified;
    if (classified.era === 'handshake') return this.#serveHandshake(body, request, response);

    const { message } = classified;
    const mismatch = checkMirroredHeaders(message, headers, this.#options.toolSchema);
    if (mismatch) return mismatch;
    if (message.kind === 'notification') {
      sendNothing(response, 202); // there is nothing that a host of this era could tell us
      return undefined;
    }
    const { openSession, log } = this.#options;
    const { keepAliveMs, slowAnswerMs } = this.#limits;
    const breakOff = serveModernRequest(message, response, {
      openSession,
      keepAliveMs,
      slowAnswerMs,
      log,
    });
    this.#modern.add(breakOff);
    response.once('close', () => this.#modern.delete(breakOff));
    return undefined;
  }

  #serveHandshake(
    body: Body,
    request: IncomingMessage,
    response: ServerResponse,
  ): Refusal | undefined {
    const { accept } = request.headers;
    const id = isBatch(body) ? undefined : body.id;
    if (!accepts(accept, 'application/json') || !accepts(accept, 'text/event-stream')) {
      return refusal(406, 'Accept must include application/json and text/event-stream.', { id });
    }
    const isHandshake = !isBatch(body) && body.kind === 'request' && body.method === 'initialize';
    const hasSession = request.headers['mcp-session-id'] !== undefined;
    if (isHandshake && hasSession) return badRequest('The session has begun already.', { id });
    if (!isHandshake) {
      const session = this.#findSession(request);
      return isRefusal(session) ? { ...session, id } : session.receive(body, response);
    }
    const session = this.#sessions.open();
    if (!session) return refusal(503, 'There are too many sessions.', { id });
    return session.receive(body, response);
  }

  #findSession({ headers }: IncomingMessage): HandshakeSession | Refusal {
    const id = headers['mcp-session-id'];
    if (typeof id !== 'string') {
      return badRequest('The header Mcp-Session-Id is missing. A session begins with initialize.');
    }
    const unknown = 'There is no such session. Begin a new one with initialize.';
    return this.#sessions.get(id) ?? refusal(404, unknown, { code: SESSION_NOT_FOUND });
  }
}

/** Only a POST has one; on others it could be a request that hides in another. */
function checkNoBody({ headers }: IncomingMessage): Refusal | undefined {
  const hasBody =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return hasBody ? badRequest('This method has no body.') : undefined;
}

function notAllowed(allow: string): Refusal {
  return refusal(405, `Here one may use ${allow}.`, { headers: { allow } });
}

/** Whether a client takes a type, by the header Accept. */
function accepts(header: string | undefined, type: string): boolean {
  const ranges = (header ?? '').toLowerCase().split(',');
  return ranges.some((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    const isRefused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    return !isRefused && [type, `${type.split('/')[0]}/*`, '*/*'].includes(name);
  });
}
