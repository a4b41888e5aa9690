// A host of the modern era: every request says itself who asks and what he can do, nobody is asked by
// a request of ours, and the list of tools does not change by what is called.
import { Cancellation } from '../base/cancellation.ts';
import { isObject } from '../base/object.ts';
import type { Caller, Question } from '../mcp/caller.ts';
import {
  ENVELOPE_KEYS,
  META,
  MISSING_CAPABILITY,
  MODERN_REVISION,
  RESOURCE_NOT_FOUND,
  UNSUPPORTED_VERSION,
  URL_ELICITATION_REQUIRED,
} from '../mcp/eras.ts';
import { type LogLevel, parseLogLevel } from '../mcp/logging.ts';
import { isInputRequired, toCacheableResult, toModernResult } from '../mcp/results.ts';
import { TASKS_EXTENSION } from '../mcp/tasks.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import type { IncomingRequest, Peer } from '../rpc/peer.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { Audience, Surface, SurfaceOptions } from '../surface/surface.ts';
import {
  CAPABILITIES,
  type Desk,
  metaOf,
  paramsOf,
  parseToolCall,
  progressTokenOf,
} from './desk.ts';
import { answerFailure, explainRefusal } from './errors.ts';
import { ParkedCall, type Parking } from './parking.ts';
import { digestOf, type StateSeal } from './request-state.ts';
import { Subscriptions } from './subscriptions.ts';

export interface ModernDeskOptions {
  readonly peer: Peer;
  readonly openSurface: (audience: Audience) => Surface;
  readonly seal: StateSeal;
  readonly parking: Parking;
  readonly questionMs: () => number;
  readonly onReady: () => void;
}

const TASKS = { extensions: { [TASKS_EXTENSION]: {} } };

export class ModernDesk implements Desk {
  readonly #options: ModernDeskOptions;
  readonly #subscriptions: Subscriptions;
  readonly #surface: Surface;
  #envelope: Envelope | undefined;
  #client: string | undefined;
  #isReady = false;

  constructor(options: ModernDeskOptions) {
    this.#options = options;
    this.#subscriptions = new Subscriptions(options.peer);
    this.#surface = options.openSurface(this.#subscriptions);
  }

  get report() {
    return { client: this.#client, revision: MODERN_REVISION, active: [] };
  }

  answer(request: IncomingRequest): Verbatim | Promise<Verbatim> {
    if (!METHODS.has(request.method)) {
      throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${request.method}`);
    }
    const params = paramsOf(request);
    const envelope = this.#envelopeOf(params);
    if (!this.#isReady) setImmediate(this.#options.onReady); // once the first answer has left
    this.#isReady = true;
    switch (request.method) {
      case 'server/discover':
        return this.#discover();
      case 'tools/list':
        return toCacheableResult(Verbatim.of({ tools: this.#surface.listTools() }));
      case 'prompts/list':
        return toCacheableResult(Verbatim.of({ prompts: this.#surface.listPrompts() }));
      case 'resources/list':
        return toCacheableResult(Verbatim.of({ resources: this.#surface.listResources() }));
      case 'resources/templates/list':
        return toCacheableResult(Verbatim.of({ resourceTemplates: this.#surface.listTemplates() }));
      case 'subscriptions/listen':
        return this.#subscriptions.listen(request, (uris) => this.#surface.watch(uris));
      default:
        return this.#work(request, params, envelope);
    }
  }

  receive(): void {
    // What hosts of this era tell us beside requests concerns those, which the peer knows.
  }

  close(): void {
    this.#subscriptions.close();
    this.#surface.close();
  }

  /** What a request says of itself, which mostly is what the one before has said. */
  #envelopeOf(params: Verbatim): Envelope {
    const meta = metaOf(params);
    if (!this.#envelope || this.#envelope.text !== meta?.text) {
      this.#envelope = readEnvelope(meta?.detached());
      this.#noteClient(this.#envelope.info?.value);
    }
    return this.#envelope;
  }

  #noteClient(info: unknown): void {
    const name = isObject(info) ? info['name'] : undefined;
    if (typeof name === 'string') this.#client = name.slice(0, 100);
  }

  #discover(): Verbatim {
    return toCacheableResult(
      Verbatim.of({
        supportedVersions: [MODERN_REVISION],
        capabilities: { ...CAPABILITIES, ...TASKS },
        instructions: this.#surface.instructions,
      }),
    );
  }

  /** What a child does: it may want to know something first, and be asked again in another round. */
  async #work(request: IncomingRequest, params: Verbatim, envelope: Envelope): Promise<Verbatim> {
    const { seal, parking, questionMs } = this.#options;
    const { method } = request;
    // Only the few requests that take more than one round need it, and it costs a hash.
    const digest = (): string => digestOf(method, params.value);
    const given = params.member('requestState');
    const state = given && seal.open(given.value, digest());
    const responses = params.member('inputResponses');
    const round = new Round(request, envelope.progressToken, this.#options.peer);
    const call =
      state?.kind === 'parked'
        ? parking.resume(state.handle)
        : this.#begin(round, envelope, { responses, state: state?.state }, params);
    round.attach(call);
    call.answer(responses);
    try {
      const next = await call.next();
      if ('result' in next) return finish(next.result, digest, seal, method);
      const handle = parking.park(call, questionMs());
      return inputRequired(next.questions, seal.seal({ kind: 'parked', handle }, digest()));
    } catch (error) {
      return answerModern(
        call.missing ? missingCapability(call.missing, error) : error,
        digest,
        seal,
      );
    } finally {
      round.detach();
    }
  }

  #begin(
    round: Round,
    envelope: Envelope,
    inputs: SurfaceOptions['inputs'],
    params: Verbatim,
  ): ParkedCall {
    const { method } = round.request;
    const call = new ParkedCall(new Cancellation());
    if (envelope.logLevel) this.#surface.setLogLevel(envelope.logLevel);
    const options: SurfaceOptions = {
      meta: envelope.handedOn,
      cancellation: call.cancellation,
      caller: new ModernCaller(this, envelope, call),
      inputs,
      onProgress: round.token && ((progress) => call.round?.progress(progress)),
    };
    call.outcome =
      method === 'tools/call'
        ? this.#callTool(params, options)
        : this.#surface.ask(method, plain(params), options);
    return call;
  }

  async #callTool(params: Verbatim, options: SurfaceOptions): Promise<Verbatim> {
    try {
      // Member by member: a second spread in one literal leaves V8's fast path, on every call.
      const { name, args } = parseToolCall(params);
      const { meta, cancellation, caller, inputs, onProgress } = options;
      const call = { name, args, meta, cancellation, caller, inputs, onProgress };
      return await this.#surface.callTool(call);
    } catch (error) {
      return answerFailure(error, 'newline');
    }
  }
}

const METHODS = new Set([
  'server/discover',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
  'subscriptions/listen',
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
]);

/** What a request says of itself. */
interface Envelope {
  /** As it is written. */
  readonly text: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly info: Verbatim | undefined;
  readonly logLevel: LogLevel | undefined;
  readonly progressToken: Verbatim | undefined;
  /** What else there is: it is meant for the child. */
  readonly handedOn: Verbatim | undefined;
}

function readEnvelope(meta: Verbatim | undefined): Envelope {
  const said = isObject(meta?.value) ? meta.value : {};
  const { [META.version]: version, [META.capabilities]: capabilities } = said;
  if (!meta || typeof version !== 'string') throw missing(META.version);
  if (version !== MODERN_REVISION) {
    const data = Verbatim.of({ supported: [MODERN_REVISION], requested: version });
    throw new RpcError(UNSUPPORTED_VERSION, `Unsupported protocol version: ${version}`, data);
  }
  if (!isObject(capabilities)) throw missing(META.capabilities);
  const handedOn = meta.without(...ENVELOPE_KEYS, 'progressToken');
  return {
    text: meta.text,
    capabilities,
    info: meta.member(META.client),
    logLevel: parseLogLevel(said[META.logLevel]),
    progressToken: progressTokenOf(meta),
    handedOn: handedOn.text === '{}' ? undefined : handedOn,
  };
}

function missing(key: string): RpcError {
  return new RpcError(INVALID_PARAMS, `params._meta needs "${key}".`);
}

/** The host as the one who made a request. A class, since one is made for every call. */
class ModernCaller implements Caller {
  readonly era = 'modern';
  readonly party: object;
  readonly capabilities: Caller['capabilities'];
  readonly info: Caller['info'];
  readonly logLevel: Caller['logLevel'];
  readonly #call: ParkedCall;

  constructor(party: object, { capabilities, info, logLevel }: Envelope, call: ParkedCall) {
    this.party = party;
    this.capabilities = capabilities;
    this.info = info;
    this.logLevel = logLevel;
    this.#call = call;
  }

  ask(question: Question): Promise<Verbatim> {
    return this.#call.ask(question);
  }

  noteMissing(capabilities: Caller['capabilities']): void {
    this.#call.missing = capabilities;
  }

  log(params: Verbatim): void {
    this.#call.round?.notify('notifications/message', params);
  }

  pageVisited(): void {
    // This era has no word for it.
  }
}

/** One request of the host's in which a call is carried on: what it hears of goes out here. */
class Round {
  readonly request: IncomingRequest;
  readonly token: Verbatim | undefined;
  readonly #peer: Peer;
  #call: ParkedCall | undefined;
  readonly #cancel = (): void => {
    this.#call?.giveUp(this.request.cancellation.reason ?? new Error('The host has cancelled it.'));
  };

  constructor(request: IncomingRequest, token: Verbatim | undefined, peer: Peer) {
    this.request = request;
    this.token = token;
    this.#peer = peer;
  }

  attach(call: ParkedCall): void {
    this.#call = call;
    call.round = this;
    this.request.cancellation.listen(this.#cancel);
  }

  /** The call may go on in another round; this one does not concern it any more. */
  detach(): void {
    this.request.cancellation.unlisten(this.#cancel);
    if (this.#call?.round === this) this.#call.round = undefined;
  }

  progress(params: Verbatim): void {
    if (this.token) this.notify('notifications/progress', params.set('progressToken', this.token));
  }

  notify(method: string, params: Verbatim): void {
    const { id, cancellation } = this.request;
    if (!cancellation.reason) this.#peer.notify(method, params, id);
  }
}

function finish(result: Verbatim, digest: () => string, seal: StateSeal, method: string): Verbatim {
  if (!isInputRequired(result.value)) {
    return method === 'resources/read' ? toCacheableResult(result) : toModernResult(result);
  }
  const state = (result.value as { requestState?: unknown }).requestState;
  const own = typeof state === 'string' ? state : undefined;
  const sealed = Verbatim.of(seal.seal({ kind: 'relay', state: own }, digest()));
  return toModernResult(result.set('requestState', sealed));
}

function inputRequired(questions: Verbatim, state: string): Verbatim {
  const result = Verbatim.of({ resultType: 'input_required' }).set('inputRequests', questions);
  return toModernResult(result.set('requestState', Verbatim.of(state)));
}

/** A call that failed for want of something the host has not said that it can do. */
function missingCapability(required: Readonly<Record<string, unknown>>, error: unknown): unknown {
  if (!(error instanceof RpcError)) return error;
  const data = Verbatim.of({ requiredCapabilities: required });
  return new RpcError(MISSING_CAPABILITY, error.message, data);
}

/** Errors that only the handshake era knows, in the words of this one. */
function answerModern(error: unknown, digest: () => string, seal: StateSeal): Verbatim {
  if (!(error instanceof RpcError)) throw explainRefusal(error);
  if (error.code === RESOURCE_NOT_FOUND) {
    throw new RpcError(INVALID_PARAMS, error.message, error.data);
  }
  const elicitations = error.data?.member('elicitations');
  if (error.code !== URL_ELICITATION_REQUIRED || !elicitations) throw error;
  const parts = elicitations
    .elements()
    .map(
      (params, index) =>
        `"page_${index + 1}":{"method":"elicitation/create","params":${params.text}}`,
    );
  const questions = new Verbatim(`{${parts.join(',')}}`, {});
  return inputRequired(questions, seal.seal({ kind: 'relay', state: undefined }, digest()));
}

/** The parameters of a request as its child is to see them. */
function plain(params: Verbatim): Verbatim {
  return params.without('_meta', 'inputResponses', 'requestState');
}
