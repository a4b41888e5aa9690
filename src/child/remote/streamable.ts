// Streamable HTTP: each message is a POST. The reply to a request is its answer, as JSON or at the end
// of an event stream. Other messages from the server arrive on a GET that stays open. The server may
// have a session, and may lose it. The modern era only has POSTs.
import { SwitchboardError } from '../../base/errors.ts';
import { SESSION_NOT_FOUND } from '../../mcp/eras.ts';
import { BrokenOff, OpenBodies, Oversize, readText } from '../../net/body.ts';
import type { HttpReply } from '../../net/http-client.ts';
import { parseJson, parseWithin } from '../../rpc/json-text.ts';
import type { Outgoing, OutgoingRequest } from '../../rpc/message.ts';
import { TooComplex } from '../../rpc/shape.ts';
import { explainOversize } from '../failures.ts';
import { readAnswerStream } from './answer-stream.ts';
import { StreamableEndpoint, type StreamableEndpointOptions } from './endpoint.ts';
import { explainContent, explainCut, explainStatus, type RefusedReply } from './failures.ts';
import { listen } from './listener.ts';
import { isLost, isRefused, mayBeLost } from './lost-session.ts';
import { explainReply, modernHeaders } from './modern.ts';
import type { InputSchemaOf } from './param-headers.ts';
import {
  answers,
  drain,
  errorIn,
  isEventStream,
  isSameId,
  isSuccess,
  mediaType,
  readRefusal,
} from './reply.ts';
import type { RemoteServer } from './server.ts';
import {
  NO_SESSION,
  type RemoteSession,
  readGreeting,
  sessionHeaders,
  settleSession,
} from './session.ts';
import type { Wire, WireEvents } from './wire.ts';

export interface StreamableOptions extends WireEvents, StreamableEndpointOptions {
  readonly server: RemoteServer;
  /** Milliseconds for a repeated handshake, and for the reply to a notification. */
  readonly handshakeMs: number;
  readonly inputSchemaOf?: InputSchemaOf | undefined;
  /** The server doesn't support this transport: it refused `handshake` with `error`. */
  readonly onOlder: (handshake: SentRequest, error: Error) => void;
}

export interface SentRequest {
  readonly json: string;
  readonly message: OutgoingRequest;
}

/** A request in flight. */
interface Call extends SentRequest {
  readonly controller: AbortController;
  readonly signal: AbortSignal;
  /** The headers of a modern request. */
  readonly modern: Readonly<Record<string, string>> | undefined;
  /** The server may have received it. */
  isSent: boolean;
}

/** A server that only supports the older transport may answer the handshake like this. */
const OLDER_STATUSES = new Set([400, 404, 405]);
const PING_MS = 1_000;

export class StreamableWire implements Wire {
  readonly #options: StreamableOptions;
  readonly #endpoint: StreamableEndpoint;
  readonly #bodies = new OpenBodies();
  readonly #calls = new Map<number, Call>();
  readonly #open = new Set<AbortController>();
  #session = NO_SESSION;
  #handshake: SentRequest | undefined;
  /** Resolves when the server knows that the handshake is complete; everything else waits for it. */
  #greeted: Promise<void> = Promise.resolve();
  #renewal: Promise<void> | undefined;
  #listener: AbortController | undefined;
  #isListening = false;
  #isClosed = false;

  constructor(options: StreamableOptions) {
    this.#options = options;
    this.#endpoint = new StreamableEndpoint(options);
  }

  send(json: string, message: Outgoing): void {
    if (message.kind === 'request') {
      if (message.method === 'initialize') this.#beginHandshake({ json, message });
      this.#request({ json, message }).catch(this.#options.onBug);
      return;
    }
    if (message.kind === 'answer') return void this.#tell(json);
    const { method, cancels } = message;
    const call = cancels === undefined ? undefined : this.#calls.get(cancels);
    call?.controller.abort();
    // Closing the request cancels a modern one. An unsent one needs no cancelling.
    if (call?.modern || call?.isSent === false) return;
    const sent = this.#tell(json);
    if (method === 'notifications/initialized') {
      this.#greeted = sent.then(() => this.#startListening());
    }
  }

  pause(): void {
    this.#bodies.pause();
  }

  resume(): void {
    this.#bodies.resume();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const controller of this.#open) controller.abort();
    if (this.#session.id !== undefined) await this.#endpoint.endSession(this.#session);
    this.#options.sender.close();
  }

  /** Cancels earlier modern requests: the handshake replaces them. */
  #beginHandshake(handshake: SentRequest): void {
    this.#handshake = handshake;
    for (const { modern, controller } of this.#calls.values()) if (modern) controller.abort();
  }

  async #request({ json, message }: SentRequest): Promise<void> {
    const { id, method } = message;
    const { onFailure, onOlder, inputSchemaOf } = this.#options;
    using scope = this.#begin();
    const { controller } = scope;
    const { signal } = controller;
    try {
      const modern = modernHeaders(message, inputSchemaOf);
      const call: Call = { json, message, controller, signal, modern, isSent: false };
      this.#calls.set(id, call);
      if (method !== 'initialize') await this.#greeted;
      if (signal.aborted) return;
      call.isSent = true;
      await this.#exchange(call);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof OlderServer) onOlder({ json, message }, error.failure);
      else onFailure(id, this.#explain(error));
    } finally {
      this.#calls.delete(id);
    }
  }

  async #exchange(call: Call, isRepeated = false): Promise<void> {
    const { server } = this.#options;
    const session = call.modern ? NO_SESSION : this.#session;
    const reply = await this.#endpoint.post(
      call.json,
      call.modern ?? sessionHeaders(session),
      call.signal,
    );
    if (isSuccess(reply)) return this.#readReply(call, reply);
    const refusal = await readRefusal(reply, server);
    const error = errorIn(refusal);
    // An error with the request's id is its answer. It may have had an effect, so it isn't repeated.
    if (isSameId(error?.id, call.message.id) && error?.code !== SESSION_NOT_FOUND) {
      await this.#checkSession(session, refusal);
      return this.#takeRefusal(call, refusal);
    }
    // A request refused for its session was not processed, so it is safe to send again.
    if (!isRepeated && (await isLost(session, refusal, () => this.#isRefusedPing(session)))) {
      await this.#renew(session);
      return this.#exchange(call, true);
    }
    return this.#takeRefusal(call, refusal);
  }

  #takeRefusal({ message: { id, method } }: Call, refusal: RefusedReply): void {
    const { server, onMessage } = this.#options;
    if (isSameId(errorIn(refusal)?.id, id)) {
      return onMessage(refusal.text, parseJson(refusal.text));
    }
    const failure = explainStatus(server, refusal);
    const isOlder = method === 'initialize' && OLDER_STATUSES.has(refusal.status);
    throw isOlder ? new OlderServer(failure) : explainReply(method, failure);
  }

  async #readReply(call: Call, reply: HttpReply): Promise<void> {
    try {
      await this.#readAnswer(call, reply);
    } catch (error) {
      throw explainReply(call.message.method, this.#explain(error));
    }
  }

  async #readAnswer(call: Call, reply: HttpReply): Promise<void> {
    const { server, onFailure } = this.#options;
    const { id, method } = call.message;
    if (isEventStream(reply)) return this.#readStream(call, reply);
    const type = mediaType(reply);
    if (type === 'application/json') {
      this.#bodies.add(reply.body);
      const text = await readText(reply.body, server.messageBytes);
      const value = parseWithin(text, server.messageShape);
      if (value instanceof TooComplex) throw explainOversize(server.name, value);
      if (value === undefined) throw explainContent(server, 'invalid JSON', text);
      this.#receive(call, reply, text, value);
      return onFailure(id, explainReply(method, explainCut(server, 'ended')));
    }
    const { text } = await readRefusal(reply, server);
    // Accepted: the answer may arrive on the GET stream.
    if (reply.status === 202 && this.#isListening && !call.modern) return undefined;
    throw explainContent(server, type, text);
  }

  #readStream(call: Call, reply: HttpReply): Promise<void> {
    return readAnswerStream(reply, {
      server: this.#options.server,
      id: call.message.id,
      signal: call.signal,
      onMessage: (text, value) => this.#receive(call, reply, text, value),
      onOpen: ({ body }) => this.#bodies.add(body),
      resume: call.modern
        ? undefined
        : (lastEventId) => this.#endpoint.get(this.#session, lastEventId, call.signal),
    });
  }

  #receive({ message }: Call, reply: HttpReply, text: string, value: unknown): void {
    if (message.method === 'initialize' && answers(value, message.id)) {
      this.#session = settleSession(reply, value);
    }
    this.#options.onMessage(text, value);
  }

  /** The answer may still mean a lost session: then later requests get a new one. */
  async #checkSession(session: RemoteSession, refusal: RefusedReply): Promise<void> {
    if (!mayBeLost(session, refusal) || !(await this.#isRefusedPing(session))) return;
    await this.#renew(session).catch(() => {
      // the next request will find out
    });
  }

  async #isRefusedPing(session: RemoteSession): Promise<boolean> {
    using scope = this.#begin(PING_MS);
    const { signal } = scope.controller;
    const ping = (json: string) => this.#endpoint.post(json, sessionHeaders(session), signal);
    return await isRefused(ping, this.#options.server);
  }

  /** Repeats the handshake, once for all requests that noticed. */
  #renew(lost: RemoteSession): Promise<void> {
    if (!this.#renewal && this.#session === lost) {
      this.#renewal = this.#shakeHandsAgain().finally(() => {
        this.#renewal = undefined;
      });
    }
    return this.#renewal ?? Promise.resolve();
  }

  async #shakeHandsAgain(): Promise<void> {
    const { server, handshakeMs } = this.#options;
    const handshake = this.#handshake;
    if (!handshake) return; // without one there is no session to lose
    using scope = this.#begin(handshakeMs);
    const { signal } = scope.controller;
    try {
      const reply = await this.#endpoint.post(handshake.json, {}, signal);
      if (!isSuccess(reply)) {
        throw explainStatus(server, await readRefusal(reply, server));
      }
      this.#session = settleSession(reply, await readGreeting(server, reply, handshake.message.id));
      await this.#tell(INITIALIZED);
      this.#startListening();
    } catch (error) {
      throw signal.aborted ? explainCut(server, 'broke') : error;
    }
  }

  /** Sends a message that has no answer. Failures are ignored. */
  async #tell(json: string): Promise<void> {
    using scope = this.#begin(this.#options.handshakeMs);
    const { signal } = scope.controller;
    try {
      await drain(await this.#endpoint.post(json, sessionHeaders(this.#session), signal));
    } catch {
      // the next request reports it
    }
  }

  #startListening(): void {
    this.#listen().catch(this.#options.onBug);
  }

  async #listen(): Promise<void> {
    const { server, onMessage } = this.#options;
    using scope = this.#begin();
    const { controller } = scope;
    this.#listener?.abort(); // of the previous session
    this.#listener = controller;
    await listen({
      server,
      signal: controller.signal,
      get: (lastEventId) => this.#endpoint.get(this.#session, lastEventId, controller.signal),
      onMessage,
      onOpen: ({ body }) => {
        this.#bodies.add(body);
        this.#isListening = true;
      },
      onClose: () => {
        if (this.#listener === controller) this.#isListening = false;
      },
    });
  }

  /** A controller that `close` or the time limit aborts. */
  #begin(limitMs?: number): Disposable & { readonly controller: AbortController } {
    const controller = new AbortController();
    if (this.#isClosed) controller.abort();
    this.#open.add(controller);
    const timer = limitMs === undefined ? undefined : setTimeout(() => controller.abort(), limitMs);
    return {
      controller,
      [Symbol.dispose]: () => {
        clearTimeout(timer);
        this.#open.delete(controller);
      },
    };
  }

  /** Anything unexpected is a bug and passes through unchanged. */
  #explain(error: unknown): Error {
    const { server } = this.#options;
    if (error instanceof Oversize) {
      return explainOversize(server.name, { name: 'messageBytes', most: server.messageBytes });
    }
    return error instanceof BrokenOff ? explainCut(server, 'broke') : (error as Error);
  }
}

const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** The server probably only supports the older transport. */
class OlderServer extends Error {
  readonly failure: SwitchboardError;

  constructor(failure: SwitchboardError) {
    super(failure.message);
    this.failure = failure;
  }
}
