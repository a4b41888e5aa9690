// A host in the modern era: every request carries the client's identity and capabilities, we never send requests, and
// calls don't change the tool list.
import { Cancellation } from '../base/cancellation.ts';
import { describeBug } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import type { Log } from '../base/log.ts';
import type { CallContext } from '../calls/call.ts';
import { type Caller, clientName, type Question } from '../mcp/caller.ts';
import { MODERN_REVISION } from '../mcp/eras.ts';
import { toCacheableResult } from '../mcp/results.ts';
import { TASKS_EXTENSION } from '../mcp/tasks.ts';
import { METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import type { IncomingRequest, Peer } from '../rpc/peer.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { Audience, Surface } from '../surface/surface.ts';
import {
  CAPABILITIES,
  type Desk,
  LONGEST_CLIENT,
  metaOf,
  paramsOf,
  parseToolCall,
} from './desk.ts';
import { type Envelope, readEnvelope } from './envelope.ts';
import { answerFailure } from './errors.ts';
import { ParkedCall, type Parking } from './parking.ts';
import { digestOf, type StateSeal } from './request-state.ts';
import { answerError, inputRequired, missingCapability, Round, toAnswer } from './round.ts';
import { Subscriptions } from './subscriptions.ts';

export interface ModernDeskOptions extends Pick<Caller, 'party'> {
  readonly peer: Peer;
  readonly openSurface: (audience: Audience) => Surface;
  readonly log: Log;
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
  #isReady = false;
  readonly #onReady: () => void;

  constructor(options: ModernDeskOptions) {
    const { log, onReady } = options;
    this.#options = options;
    this.#onReady = guard((error) => log.error(describeBug(error)), onReady);
    this.#subscriptions = new Subscriptions(options.peer);
    this.#surface = options.openSurface(this.#subscriptions);
  }

  get report() {
    return {
      client: this.#subscriptions.client?.slice(0, LONGEST_CLIENT),
      revision: MODERN_REVISION,
      active: [],
    };
  }

  answer(request: IncomingRequest): Verbatim | Promise<Verbatim> {
    if (!METHODS.has(request.method)) {
      throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${request.method}`);
    }
    const params = paramsOf(request);
    const envelope = this.#envelopeOf(params);
    if (!this.#isReady) setImmediate(this.#onReady); // after the first answer is sent
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
    // Notifications of this era are about requests, and the peer handles those.
  }

  /** The host gets no more notifications. */
  endSubscriptions(): void {
    this.#subscriptions.close();
  }

  close(): void {
    this.#subscriptions.close();
    this.#surface.close();
  }

  /** Most requests carry the same envelope as the one before. */
  #envelopeOf(params: Verbatim): Envelope {
    const meta = metaOf(params);
    if (!this.#envelope || this.#envelope.text !== meta?.text) {
      this.#envelope = readEnvelope(meta?.detached());
      this.#subscriptions.client = clientName(this.#envelope.info);
    }
    return this.#envelope;
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

  /** Forwards a request. The server may have questions first, and gets the request again in another round. */
  async #work(request: IncomingRequest, params: Verbatim, envelope: Envelope): Promise<Verbatim> {
    const { seal, parking, questionMs } = this.#options;
    const { method } = request;
    // Lazy: it costs a hash, and few requests take more than one round.
    const digest = (): string => digestOf(method, params.value);
    const given = params.member('requestState');
    const state = given && seal.open(given.value, digest());
    const responses = params.member('inputResponses');
    const round = new Round(request, envelope.progressToken, this.#options.peer);
    const call =
      state?.kind === 'parked'
        ? parking.resume(state.handle)
        : this.#begin(
            round,
            envelope,
            { responses, state: state?.state, isRepeated: state !== undefined },
            params,
          );
    round.attach(call);
    call.answer(responses);
    try {
      const next = await call.next();
      if ('result' in next) return toAnswer(next.result, digest, seal, method);
      const handle = parking.park(call, questionMs());
      return inputRequired(next.questions, seal.seal({ kind: 'parked', handle }, digest()));
    } catch (error) {
      return answerError(
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
    inputs: CallContext['inputs'],
    params: Verbatim,
  ): ParkedCall {
    const { method } = round.request;
    const call = new ParkedCall(new Cancellation());
    if (envelope.logLevel) this.#surface.setLogLevel(envelope.logLevel);
    const context: CallContext = {
      meta: envelope.forwarded,
      cancellation: call.cancellation,
      caller: new ModernCaller(this.#options.party, envelope, call, this.#options.seal),
      inputs,
      onProgress: round.token && ((progress) => call.round?.progress(progress)),
    };
    call.outcome =
      method === 'tools/call'
        ? this.#callTool(params, context)
        : this.#surface.ask(method, withoutEnvelope(params), context);
    return call;
  }

  async #callTool(params: Verbatim, context: CallContext): Promise<Verbatim> {
    try {
      const { name, args } = parseToolCall(params);
      return await this.#surface.callTool(name, args, context);
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

/** The host, as the caller of one request. A class, since one is created for every call. */
class ModernCaller implements Caller {
  readonly era = 'modern';
  readonly party: object;
  readonly capabilities: Caller['capabilities'];
  readonly info: Caller['info'];
  readonly logLevel: Caller['logLevel'];
  readonly #call: ParkedCall;
  readonly #seal: StateSeal;

  constructor(
    party: object,
    { capabilities, info, logLevel }: Envelope,
    call: ParkedCall,
    seal: StateSeal,
  ) {
    this.#seal = seal;
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

  sign(text: string): string {
    return this.#seal.sign(text);
  }

  log(params: Verbatim): void {
    this.#call.round?.notify('notifications/message', params);
  }

  pageVisited(): void {
    // This era has no notification for it.
  }
}

/** The parameters as the server should see them. */
function withoutEnvelope(params: Verbatim): Verbatim {
  return params.without('_meta', 'inputResponses', 'requestState');
}
