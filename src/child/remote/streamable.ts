// Streamable HTTP: each message of ours is a POST, whose reply is the answer, as JSON or as a stream
// of events that ends with it; what the server says of its own accord comes on a GET that stays
// open. A server may keep a session, which it may also lose.
import { SwitchboardError } from '../../base/errors.ts';
import { parseJson } from '../../rpc/json-text.ts';
import { isObject, METHOD_NOT_FOUND } from '../../rpc/message.ts';
import { explainOversize } from '../failures.ts';
import { readAnswerStream } from './answer-stream.ts';
import { BrokenOff, OpenBodies, Oversize, readText } from './body.ts';
import { readEvents, type ServerEvent } from './events.ts';
import { explainContent, explainCut, explainStatus, quote, type Refusal } from './failures.ts';
import type { HttpReply } from './http.ts';
import { listen } from './listener.ts';
import { cancelledRequest, readOutgoing } from './outgoing.ts';
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
import { discard, type Sender } from './sender.ts';
import type { RemoteServer } from './server.ts';
import { NO_SESSION, type Session, sessionHeaders, settleSession } from './session.ts';
import { sleep, type Wire, type WireEvents } from './wire.ts';

export interface StreamableOptions extends WireEvents {
  readonly server: RemoteServer;
  readonly url: URL;
  readonly sender: Sender;
  /** How long a handshake may take that is made again. */
  readonly handshakeMs: number;
  /** The address does not know this transport: `handshake` was refused with `error`. */
  readonly onOlder: (handshake: string, error: Error) => void;
}

/** One request on its way. */
interface Call {
  readonly id: number;
  readonly method: string;
  readonly json: string;
  readonly signal: AbortSignal;
}

/** Replies to the handshake of a server that may know only the older transport. */
const OLDER_STATUSES = new Set([400, 404, 405]);
/** JSON-RPC's code for whatever a server has no code for. */
const SERVER_ERROR = -32000;
const GOODBYE_MS = 1_000;

export class StreamableWire implements Wire {
  readonly #options: StreamableOptions;
  readonly #bodies = new OpenBodies();
  readonly #calls = new Map<number, AbortController>();
  readonly #open = new Set<AbortController>();
  #session = NO_SESSION;
  #handshake = '';
  /** Done when the server knows that the handshake is: nothing else may reach it before. */
  #greeted: Promise<void> = Promise.resolve();
  #renewal: Promise<void> | undefined;
  #listener: AbortController | undefined;
  #isListening = false;
  #isClosed = false;

  constructor(options: StreamableOptions) {
    this.#options = options;
  }

  send(json: string): void {
    const message = readOutgoing(json);
    if (message.kind === 'request') {
      if (message.method === 'initialize') this.#handshake = json;
      void this.#request(message.id, message.method, json);
      return;
    }
    const method = message.kind === 'notification' ? message.method : undefined;
    if (method === 'notifications/cancelled') {
      this.#calls.get(cancelledRequest(json) ?? -1)?.abort();
    }
    const sent = this.#tell(json);
    if (method === 'notifications/initialized') {
      this.#greeted = sent.then(() => void this.#listen());
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
    if (this.#session.id !== undefined) await this.#endSession(this.#session);
    this.#options.sender.close();
  }

  async #request(id: number, method: string, json: string): Promise<void> {
    const { onFailure, onOlder } = this.#options;
    using scope = this.#begin();
    const { signal } = scope.controller;
    this.#calls.set(id, scope.controller);
    try {
      if (method !== 'initialize') await this.#greeted;
      await this.#exchange({ id, method, json, signal });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof OlderServer) onOlder(json, error.failure);
      else onFailure(id, this.#explain(error));
    } finally {
      this.#calls.delete(id);
    }
  }

  async #exchange(call: Call, isRepeated = false): Promise<void> {
    const { server, onMessage } = this.#options;
    const session = this.#session;
    const reply = await this.#post(call.json, session, call.signal);
    if (isSuccess(reply)) return this.#readAnswer(call, reply);
    const refusal = await readRefusal(reply, server.messageBytes);
    // A request that was refused for its session has not been looked at, and may be sent again.
    if (!isRepeated && (await this.#isLost(session, refusal, call))) {
      await this.#renew(session);
      return this.#exchange(call, true);
    }
    const error = errorIn(refusal);
    if (error && isSameId(error.id, call.id)) {
      return onMessage(refusal.text, parseJson(refusal.text));
    }
    const failure = explainStatus(server, refusal);
    const isOlder = call.method === 'initialize' && OLDER_STATUSES.has(refusal.status);
    throw isOlder ? new OlderServer(failure) : failure;
  }

  async #readAnswer(call: Call, reply: HttpReply): Promise<void> {
    const { server, onFailure } = this.#options;
    if (isEventStream(reply)) return this.#readStream(call, reply);
    const type = mediaType(reply);
    if (type === 'application/json') {
      this.#bodies.add(reply.body);
      const text = await readText(reply.body, server.messageBytes);
      const value = parseJson(text);
      if (value === undefined) throw explainContent(server, 'what is no JSON', text);
      this.#receive(call, reply, text, value);
      return onFailure(call.id, explainCut(server, 'ended'));
    }
    const { text } = await readRefusal(reply, server.messageBytes);
    // Accepted: the answer may come on the stream for the server's own messages.
    if (reply.status === 202 && this.#isListening) return undefined;
    throw explainContent(server, type, text);
  }

  #readStream(call: Call, reply: HttpReply): Promise<void> {
    return readAnswerStream(reply, {
      server: this.#options.server,
      id: call.id,
      signal: call.signal,
      onMessage: (text, value) => this.#receive(call, reply, text, value),
      onOpen: ({ body }) => this.#bodies.add(body),
      resume: (lastEventId) => this.#get(lastEventId, call.signal),
    });
  }

  #receive(call: Call, reply: HttpReply, text: string, value: unknown): void {
    if (call.method === 'initialize' && answers(value, call.id)) {
      this.#session = settleSession(reply, value);
    }
    this.#options.onMessage(text, value);
  }

  /** Whether the server no longer knows the session that the request was sent in. */
  async #isLost(session: Session, refusal: Refusal, { id, signal }: Call): Promise<boolean> {
    if (session.id === undefined) return false;
    const error = errorIn(refusal);
    if (refusal.status === 404)
      return !(error?.code === METHOD_NOT_FOUND && isSameId(error.id, id));
    // Many servers answer so, and 400, though 404 is what the protocol has for it. To be sure, they
    // are asked something that nobody can take amiss.
    if (refusal.status !== 400 || error?.code !== SERVER_ERROR) return false;
    const ping = await this.#post(PING, session, signal);
    await drain(ping);
    return ping.status === 400 || ping.status === 404;
  }

  /** Shakes hands again, once for all who have noticed. */
  #renew(lost: Session): Promise<void> {
    if (!this.#renewal && this.#session === lost) {
      this.#renewal = this.#shakeHandsAgain().finally(() => {
        this.#renewal = undefined;
      });
    }
    return this.#renewal ?? Promise.resolve();
  }

  async #shakeHandsAgain(): Promise<void> {
    const { server, handshakeMs } = this.#options;
    using scope = this.#begin();
    const { signal } = scope.controller;
    const timer = setTimeout(() => scope.controller.abort(), handshakeMs);
    try {
      const outgoing = readOutgoing(this.#handshake);
      const id = outgoing.kind === 'request' ? outgoing.id : -1;
      const reply = await this.#post(this.#handshake, NO_SESSION, signal);
      if (!isSuccess(reply)) {
        throw explainStatus(server, await readRefusal(reply, server.messageBytes));
      }
      this.#session = settleSession(reply, await this.#readOne(reply, id));
      await this.#tell(INITIALIZED);
      void this.#listen();
    } catch (error) {
      throw signal.aborted ? explainCut(server, 'broke') : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The answer to a handshake that was made again, which concerns nobody else. */
  async #readOne(reply: HttpReply, id: number): Promise<unknown> {
    const { server } = this.#options;
    let answer: unknown;
    if (isEventStream(reply)) {
      const onEvent = ({ data }: ServerEvent): void => {
        const value = parseJson(data);
        if (!answers(value, id)) return;
        answer = value;
        reply.body.destroy();
      };
      await readEvents(reply.body, server.messageBytes, { onEvent });
    } else answer = parseJson(await readText(reply.body, server.messageBytes));
    if (isObject(answer) && isObject(answer['result'])) return answer;
    throw new SwitchboardError(
      'CHILD_PROTOCOL',
      `Server "${server.name}" has lost its session and refused a new one: ${quote(server, JSON.stringify(answer) ?? 'no answer')}`,
      { hint: `Run: switchboard doctor ${server.name}` },
    );
  }

  /** Sends what has no answer. That it did not arrive has no one to be told. */
  async #tell(json: string): Promise<void> {
    using scope = this.#begin();
    try {
      await drain(await this.#post(json, this.#session, scope.controller.signal));
    } catch {
      // the next request finds out, and can say so
    }
  }

  async #listen(): Promise<void> {
    const { server, onMessage } = this.#options;
    using scope = this.#begin();
    const { controller } = scope;
    this.#listener?.abort(); // of the session before
    this.#listener = controller;
    await listen({
      messageBytes: server.messageBytes,
      signal: controller.signal,
      get: (lastEventId) => this.#get(lastEventId, controller.signal),
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

  #post(json: string, session: Session, signal: AbortSignal): Promise<HttpReply> {
    const { sender, url } = this.#options;
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...sessionHeaders(session),
    };
    return sender.send({ method: 'POST', url, headers, body: json, signal });
  }

  #get(lastEventId: string | undefined, signal: AbortSignal): Promise<HttpReply> {
    const { sender, url } = this.#options;
    const headers = {
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      ...sessionHeaders(this.#session),
    };
    return sender.send({ method: 'GET', url, headers, signal });
  }

  async #endSession(session: Session): Promise<void> {
    const { sender, url } = this.#options;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), GOODBYE_MS);
    const headers = sessionHeaders(session);
    const { signal } = controller;
    const sent = sender.send({ method: 'DELETE', url, headers, signal }).then(discard, () => {
      // a server that does not hear of it ends the session by itself
    });
    await Promise.race([sent, sleep(GOODBYE_MS, signal)]);
    clearTimeout(timer);
  }

  /** Something that `close` has to end, until it has ended by itself. */
  #begin(): Disposable & { readonly controller: AbortController } {
    const controller = new AbortController();
    if (this.#isClosed) controller.abort();
    this.#open.add(controller);
    return { controller, [Symbol.dispose]: () => this.#open.delete(controller) };
  }

  /** What is none of these is a mistake of ours, and to be seen as such. */
  #explain(error: unknown): Error {
    const { server } = this.#options;
    if (error instanceof Oversize) return explainOversize(server.name, server.messageBytes);
    return error instanceof BrokenOff ? explainCut(server, 'broke') : (error as Error);
  }
}

const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
const PING = '{"jsonrpc":"2.0","id":"switchboard-ping","method":"ping"}';

/** The handshake was refused as by a server that knows only the older transport. */
class OlderServer extends Error {
  readonly failure: SwitchboardError;

  constructor(failure: SwitchboardError) {
    super(failure.message);
    this.failure = failure;
  }
}
