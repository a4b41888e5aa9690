// Serves HTTP requests. Every request passes gate.ts first; the rest depends on the request's era.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../../base/log.ts';
import { type Era, MODERN_REVISION, SESSION_NOT_FOUND } from '../../mcp/eras.ts';
import type { ReadLimits } from '../../rpc/framing.ts';
import { checkBodyHeaders, readRequestBody } from './body.ts';
import { classify, versionHeader } from './era.ts';
import type { OpenSession, ToolSchema } from './exchange.ts';
import { checkGate, type GateOptions, HEALTH_PATH, MCP_PATH, POINTER, pathOf } from './gate.ts';
import type { HandshakeSession } from './handshake-session.ts';
import { type Body, isBatch, isRefusal, parseMessages } from './incoming.ts';
import { checkMirroredHeaders } from './mirrored-headers.ts';
import { type BreakOff, serveModernRequest } from './modern-request.ts';
import { badRequest, type HttpRefusal, refusal, sendRefusal } from './refusal.ts';
import type { ReplyTimes } from './reply.ts';
import { sendJson, sendNothing } from './response.ts';
import { Sessions } from './sessions.ts';

export interface FrontParts extends Pick<GateOptions, 'token'> {
  /** Read for each request, since a reload may change them. */
  readonly messageLimits: ReadLimits;
  readonly openSession: OpenSession;
  /** The eras offered to a host that connects now. */
  readonly eras: () => readonly Era[];
  readonly toolSchema: ToolSchema;
  readonly log: Log;
}

export interface FrontTimes extends ReplyTimes {
  /** Milliseconds after which an unused session ends. */
  readonly sessionIdleMs: number;
}

interface FrontOptions extends FrontParts, FrontTimes, GateOptions {
  /** Called when a connection has carried a request that passed the gate. */
  readonly onAuthorized: (socket: Socket) => void;
}

/** The first request of a host, in each era. */
const BEGINNINGS = new Set(['initialize', 'server/discover']);

const ENDING: HttpRefusal = refusal(503, 'Switchboard is shutting down.');

export class Front {
  readonly #options: FrontOptions;
  readonly #sessions: Sessions;
  readonly #modern = new Set<BreakOff>();
  #hasOfferedModern = false;
  #isClosed = false;

  constructor(options: FrontOptions) {
    const { openSession, log, keepAliveMs, slowAnswerMs, sessionIdleMs: idleMs } = options;
    this.#options = options;
    this.#sessions = new Sessions({ openSession, keepAliveMs, slowAnswerMs, idleMs, log });
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {}); // the client went away; `close` follows
    const refused = await this.#serve(request, response);
    if (refused) sendRefusal(response, refused);
  }

  close(): void {
    this.#isClosed = true;
    this.#sessions.close(ENDING);
    for (const breakOff of this.#modern) breakOff(ENDING);
  }

  async #serve(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<HttpRefusal | undefined> {
    const refused = checkGate(request, this.#options);
    if (refused) return refused;
    if (this.#isClosed) return ENDING;
    const path = pathOf(request);
    if (path === HEALTH_PATH) return this.#serveHealth(request, response);
    this.#options.onAuthorized(request.socket);
    if (path === MCP_PATH) return this.#serveMcp(request, response);
    return refusal(404, `Not found. ${POINTER}`);
  }

  #serveHealth({ method }: IncomingMessage, response: ServerResponse): HttpRefusal | undefined {
    if (method !== 'GET' && method !== 'HEAD') return notAllowed('GET, HEAD');
    sendJson(response, 200, '{"status":"ok"}');
    return undefined;
  }

  async #serveMcp(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<HttpRefusal | undefined> {
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

  /** GET and DELETE, which exist only in the handshake era. */
  #serveSession(request: IncomingMessage, response: ServerResponse): HttpRefusal | undefined {
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
  ): Promise<HttpRefusal | undefined> {
    const { limitBytes, shape } = this.#options.messageLimits;
    const { headers } = request;
    const refused = checkBodyHeaders(request, limitBytes);
    if (refused) return refused;
    if (headers.expect !== undefined) response.writeContinue();
    const text = await readRequestBody(request, limitBytes);
    if (text === undefined) return undefined;
    if (typeof text !== 'string') return text;
    if (this.#isClosed) return ENDING;
    const body = parseMessages(text, shape);
    if (isRefusal(body)) return body;
    const classified = classify(body, headers, this.#erasFor(body));
    if (isRefusal(classified)) return classified;
    if (classified.era === 'handshake') return this.#serveHandshake(body, request, response);

    const { message } = classified;
    const mismatch = checkMirroredHeaders(message, headers, this.#options.toolSchema);
    if (mismatch) return mismatch;
    if (message.kind === 'notification') {
      sendNothing(response, 202); // none of this era's notifications concern us
      return undefined;
    }
    const { openSession, keepAliveMs, slowAnswerMs, log } = this.#options;
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

  /**
   * A host's first request gets the eras offered now. Any other modern request may come from a host that began before
   * a reload; there is no session that would know.
   */
  #erasFor(body: Body): readonly Era[] {
    const offered = this.#options.eras();
    const isModernOffered = offered.includes('modern');
    this.#hasOfferedModern ||= isModernOffered;
    const isBeginning = !isBatch(body) && BEGINNINGS.has(body.method);
    if (isBeginning || isModernOffered || !this.#hasOfferedModern) return offered;
    return [...offered, 'modern'];
  }

  #serveHandshake(
    body: Body,
    request: IncomingMessage,
    response: ServerResponse,
  ): HttpRefusal | undefined {
    const { accept } = request.headers;
    const id = isBatch(body) ? undefined : body.id;
    if (!accepts(accept, 'application/json') || !accepts(accept, 'text/event-stream')) {
      return refusal(406, 'Accept must include application/json and text/event-stream.', { id });
    }
    const isHandshake = !isBatch(body) && body.kind === 'request' && body.method === 'initialize';
    const hasSession = request.headers['mcp-session-id'] !== undefined;
    if (isHandshake && hasSession) return badRequest('The session is already initialized.', { id });
    if (!isHandshake) {
      const session = this.#findSession(request);
      return isRefusal(session) ? { ...session, id } : session.receive(body, response);
    }
    const session = this.#sessions.open();
    if (!session) return refusal(503, 'Too many sessions.', { id });
    return session.receive(body, response);
  }

  #findSession({ headers }: IncomingMessage): HandshakeSession | HttpRefusal {
    const id = headers['mcp-session-id'];
    if (typeof id !== 'string') {
      return badRequest('Missing header: Mcp-Session-Id. Start a session with initialize.');
    }
    const unknown = 'Session not found. Start a new one with initialize.';
    return this.#sessions.get(id) ?? refusal(404, unknown, { code: SESSION_NOT_FOUND });
  }
}

/** Only a POST has a body. Elsewhere it could smuggle in a second request. */
function checkNoBody({ headers }: IncomingMessage): HttpRefusal | undefined {
  const hasBody =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return hasBody ? badRequest('This method takes no body.') : undefined;
}

function notAllowed(allow: string): HttpRefusal {
  return refusal(405, `Method not allowed. Use ${allow.replace(/, (?=\w+$)/, ' or ')}.`, {
    headers: { allow },
  });
}

/** Whether a client accepts a type, according to its Accept header. */
function accepts(header: string | undefined, type: string): boolean {
  const ranges = (header ?? '').toLowerCase().split(',');
  return ranges.some((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    const isRefused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    return !isRefused && [type, `${type.split('/')[0]}/*`, '*/*'].includes(name);
  });
}
