// A host in the handshake era: it introduced itself once, either side may send requests, and the tool list may change.
import { describeBug } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import type { Log } from '../base/log.ts';
import { isObject } from '../base/object.ts';
import type { CallContext } from '../calls/call.ts';
import { type Caller, clientName, type Question } from '../mcp/caller.ts';
import { HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION } from '../mcp/eras.ts';
import { type LogLevel, parseLogLevel } from '../mcp/logging.ts';
import { SERVER_INFO } from '../mcp/own-info.ts';
import { canAnswer, cannotAnswer, Unanswered } from '../mcp/questions.ts';
import { toHandshakeResult } from '../mcp/results.ts';
import { isRevision, NEWEST_REVISION, type Revision } from '../mcp/revisions.ts';
import type { Framing } from '../rpc/framing.ts';
import {
  type Id,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  RpcError,
} from '../rpc/message.ts';
import type { IncomingRequest, Peer } from '../rpc/peer.ts';
import { RpcTimeout } from '../rpc/requests.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { Audience, Surface } from '../surface/surface.ts';
import {
  CAPABILITIES,
  type Desk,
  LONGEST_CLIENT,
  metaOf,
  paramsOf,
  parseToolCall,
  progressTokenOf,
} from './desk.ts';
import { answerFailure, explainRefusal } from './errors.ts';
import { ListChanges } from './list-changes.ts';
import { StateSeal } from './request-state.ts';

export interface HandshakeDeskOptions extends Pick<Caller, 'party'> {
  readonly peer: Peer;
  readonly openSurface: (audience: Audience) => Surface;
  readonly log: Log;
  readonly framing: () => Framing;
  /** How long a user may take to answer a question. */
  readonly questionMs: () => number;
  readonly onReady: () => void;
  /** The host's roots have changed. */
  readonly onRootsChanged: () => void;
  /** The host has its first tool list. */
  readonly onListed?: ((host: ListedHost) => void) | undefined;
}

/** A host that can be asked something outside any call. */
export type ListedHost = Pick<Caller, 'capabilities' | 'info' | 'ask'>;

/** How long an initialized host may take to ask for the list. */
const LIST_FIRST_MS = 100;
/** Unless the host sets another. */
const DEFAULT_LOG_LEVEL: LogLevel = 'info';

/** Only in the newest handshake revision. */
const TASKS = { tasks: { cancel: {}, requests: { tools: { call: {} } } } };

export class HandshakeDesk implements Desk {
  readonly #options: HandshakeDeskOptions;
  readonly #changes: ListChanges;
  readonly #surface: Surface;
  readonly #watched = new Set<string>();
  /** One per session: a signature from one is invalid in another. */
  readonly #seal = new StateSeal();
  #revision: Revision | undefined;
  #clientInfo: Verbatim | undefined;
  #capabilities: Readonly<Record<string, unknown>> = {};
  #logLevel: LogLevel = DEFAULT_LOG_LEVEL;
  #isInitialized = false;
  #hasListed = false;
  readonly #onReady: () => void;
  readonly #onListed: () => void;
  #isListedTold = false;
  readonly #askAbout = (question: Question, about: Id) => this.#ask(question, about);

  constructor(options: HandshakeDeskOptions) {
    const { log, onReady, onListed } = options;
    const onBug = (error: unknown) => log.error(describeBug(error));
    this.#options = options;
    this.#onReady = guard(onBug, onReady);
    this.#onListed = guard(onBug, () => onListed?.(this.#listedHost()));
    this.#changes = new ListChanges({
      notify: (method, params) => options.peer.notify(method, params),
      ask: (question) => this.#ask(question, undefined),
    });
    this.#surface = options.openSurface(this.#changes);
  }

  get revision(): Revision | undefined {
    return this.#revision;
  }

  /** The host and what it uses, for `status`. */
  get report() {
    return {
      client: this.#changes.client?.slice(0, LONGEST_CLIENT),
      revision: this.#revision,
      active: this.#surface.active,
    };
  }

  answer(request: IncomingRequest): Verbatim | Promise<Verbatim> {
    const { method } = request;
    switch (method) {
      case 'tools/call':
        return this.#callTool(request);
      case 'tools/list':
        return this.#listTools();
      case 'initialize':
        return this.#initialize(request.params);
      case 'ping':
        return Verbatim.of({});
      case 'prompts/list':
        return Verbatim.of({ prompts: this.#surface.listPrompts() });
      case 'resources/list':
        return Verbatim.of({ resources: this.#surface.listResources() });
      case 'resources/templates/list':
        return Verbatim.of({ resourceTemplates: this.#surface.listTemplates() });
      case 'prompts/get':
      case 'resources/read':
      case 'completion/complete':
      case 'tasks/get':
      case 'tasks/result':
      case 'tasks/cancel':
        return this.#forward(request);
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return this.#watch(request);
      case 'logging/setLevel':
        return this.#setLogLevel(request.params?.value);
      default:
        throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
    }
  }

  receive(method: string): void {
    if (method === 'notifications/initialized') {
      // Most hosts ask for the list next, and should get it before we start anything.
      this.#isInitialized = true;
      setTimeout(this.#onReady, LIST_FIRST_MS).unref();
      this.#tellListed();
    }
    if (method === 'notifications/roots/list_changed') this.#options.onRootsChanged();
  }

  close(): void {
    this.#changes.close();
    this.#surface.close();
  }

  #initialize(params: Verbatim | undefined): Verbatim {
    const { protocolVersion, capabilities } = isObject(params?.value) ? params.value : {};
    this.#revision = isRevision(protocolVersion) ? protocolVersion : NEWEST_REVISION;
    this.#capabilities = isObject(capabilities) ? capabilities : {};
    this.#clientInfo = params?.member('clientInfo');
    this.#changes.client = clientName(this.#clientInfo);
    return Verbatim.of({
      protocolVersion: this.#revision,
      capabilities: { ...CAPABILITIES, ...(this.#revision === NEWEST_REVISION && TASKS) },
      serverInfo: SERVER_INFO.value,
      instructions: this.#surface.instructions,
      name: 'switchboard', // where plain JSON-RPC clients look for it
    });
  }

  #listTools(): Verbatim {
    const tools = this.#surface.listTools();
    this.#changes.noteListed();
    if (this.#isInitialized) setImmediate(this.#onReady); // after this answer is sent
    this.#hasListed = true;
    this.#tellListed();
    return Verbatim.of({ tools });
  }

  /** Once, after the first list is sent. A host that isn't initialized must not be asked anything. */
  #tellListed(): void {
    if (this.#isListedTold || !this.#isInitialized || !this.#hasListed) return;
    this.#isListedTold = true;
    setImmediate(this.#onListed);
  }

  #listedHost(): ListedHost {
    return {
      capabilities: this.#capabilities,
      info: this.#clientInfo,
      ask: (question) => this.#ask(question, undefined),
    };
  }

  async #callTool(request: IncomingRequest): Promise<Verbatim> {
    const params = paramsOf(request);
    const { name, args } = parseToolCall(params);
    const context = this.#contextFor(request, params);
    try {
      return toHandshakeResult(await this.#surface.callTool(name, args, context));
    } catch (error) {
      return answerFailure(toHandshakeError(error), context.framing);
    }
  }

  async #forward(request: IncomingRequest): Promise<Verbatim> {
    const params = paramsOf(request);
    const context = this.#contextFor(request, params);
    try {
      return toHandshakeResult(
        await this.#surface.ask(request.method, params.without('_meta'), context),
      );
    } catch (error) {
      throw explainRefusal(toHandshakeError(error));
    }
  }

  async #watch({ method, params }: IncomingRequest): Promise<Verbatim> {
    const { uri } = isObject(params?.value) ? params.value : {};
    if (typeof uri !== 'string') throw new RpcError(INVALID_PARAMS, '"uri" must be a string.');
    if (method === 'resources/subscribe') this.#watched.add(uri);
    else this.#watched.delete(uri);
    try {
      await this.#surface.watch(new Set(this.#watched));
      return Verbatim.of({});
    } catch (error) {
      // Otherwise it would keep the server running, and a second attempt would seem to work.
      this.#watched.delete(uri);
      this.#surface.watch(new Set(this.#watched)).catch(() => {});
      throw explainRefusal(toHandshakeError(error));
    }
  }

  #setLogLevel(params: unknown): Verbatim {
    const level = parseLogLevel(isObject(params) ? params['level'] : undefined);
    if (!level) throw new RpcError(INVALID_PARAMS, 'Unknown log level.');
    this.#logLevel = level;
    this.#surface.setLogLevel(level);
    return Verbatim.of({});
  }

  #contextFor(
    { id, cancellation }: IncomingRequest,
    params: Verbatim,
  ): CallContext & { readonly framing: Framing } {
    const { peer, framing } = this.#options;
    const meta = metaOf(params);
    const token = progressTokenOf(meta);
    return {
      meta,
      cancellation,
      caller: this.#callerFor(id),
      onProgress:
        token &&
        ((progress) => {
          if (cancellation.reason) return;
          peer.notify('notifications/progress', progress.set('progressToken', token), id);
        }),
      task: params.member('task'),
      framing: framing(),
    };
  }

  #callerFor(id: Id): Caller {
    return new HandshakeCaller({
      party: this.#options.party,
      peer: this.#options.peer,
      capabilities: this.#capabilities,
      info: this.#clientInfo,
      logLevel: this.#logLevel,
      ask: this.#askAbout,
      seal: this.#seal,
      id,
    });
  }

  async #ask({ method, params, cancellation }: Question, about: Id | undefined): Promise<Verbatim> {
    if (!canAnswer(this.#capabilities, method, params?.value)) throw cannotAnswer(method);
    const { peer, questionMs } = this.#options;
    const complete = method === 'elicitation/create' ? withElicitationId(params) : params;
    const options = { timeoutMs: questionMs(), cancellation, about };
    try {
      return await peer.request(method, complete, options);
    } catch (error) {
      // A plain timeout would be blamed on the server.
      throw error instanceof RpcTimeout ? new Unanswered() : error;
    }
  }
}

interface CallerParts extends Pick<Caller, 'party' | 'capabilities' | 'info' | 'logLevel'> {
  readonly peer: Peer;
  readonly id: Id;
  readonly seal: StateSeal;
  readonly ask: (question: Question, about: Id) => Promise<Verbatim>;
}

/** The host, as the caller of one request. A class, since one is created for every call. */
class HandshakeCaller implements Caller {
  readonly era = 'handshake';
  readonly party: object;
  readonly capabilities: Caller['capabilities'];
  readonly info: Caller['info'];
  readonly logLevel: Caller['logLevel'];
  readonly #parts: CallerParts;

  constructor(parts: CallerParts) {
    this.party = parts.party;
    this.capabilities = parts.capabilities;
    this.info = parts.info;
    this.logLevel = parts.logLevel;
    this.#parts = parts;
  }

  ask(question: Question): Promise<Verbatim> {
    return this.#parts.ask(question, this.#parts.id);
  }

  noteMissing(): void {
    // The server knows, and its answer explains the rest.
  }

  sign(text: string): string {
    return this.#parts.seal.sign(text);
  }

  log(params: Verbatim): void {
    this.#parts.peer.notify('notifications/message', params, this.#parts.id);
  }

  pageVisited(params: Verbatim): void {
    this.#parts.peer.notify('notifications/elicitation/complete', params, this.#parts.id);
  }
}

/** Errors of the modern era are about our connection to the server, not about the host's. */
function toHandshakeError(error: unknown): unknown {
  if (!(error instanceof RpcError) || !MODERN_ERRORS.has(error.code)) return error;
  return new RpcError(INTERNAL_ERROR, error.message, error.data);
}

const MODERN_ERRORS = new Set([HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION]);

/** In this era a URL elicitation has an id; modern servers don't send one. */
function withElicitationId(params: Verbatim | undefined): Verbatim | undefined {
  const { mode, elicitationId } = isObject(params?.value) ? params.value : {};
  if (mode !== 'url' || elicitationId !== undefined) return params;
  const id = `switchboard-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  return params?.set('elicitationId', Verbatim.of(id));
}
