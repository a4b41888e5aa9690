// A session that began with a handshake: the host's POSTs, the one stream for messages that belong to none of them, and
// recent events for connections that break.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { guard } from '../../base/guard.ts';
import type { Log } from '../../base/log.ts';
import { isObject } from '../../base/object.ts';
import { BATCH_REVISION, NEWEST_REVISION } from '../../mcp/revisions.ts';
import { type Id, isId, type Outgoing, type OutgoingAnswer } from '../../rpc/message.ts';
import { EventStore, formatEventId, parseEventId } from './event-store.ts';
import { EventStream } from './event-stream.ts';
import type { HttpSession, OpenSession } from './exchange.ts';
import { type Body, type Incoming, isBatch } from './incoming.ts';
import { PostExchange } from './post-exchange.ts';
import { badRequest, type HttpRefusal, refusal } from './refusal.ts';
import { PostReply, type ReplyTimes } from './reply.ts';
import { reportBug } from './report-bug.ts';
import { sendNothing } from './response.ts';
import { UnreadResponses } from './unread.ts';

export interface HandshakeSessionOptions extends ReplyTimes {
  readonly openSession: OpenSession;
  readonly log: Log;
  /** The handshake was refused, so there is no session. */
  readonly onFailed: () => void;
}

/** The stream for messages that belong to no request. */
const OWN_STREAM = 0;
const FAILED: HttpRefusal = refusal(500, 'Internal error in Switchboard. See its log on stderr.');
/** With more open requests than this, the host can't be waiting for all of them. */
const MOST_RUNNING = 1_000;

export class HandshakeSession {
  readonly id = randomBytes(24).toString('base64url');
  readonly #options: HandshakeSessionOptions;
  readonly #session: HttpSession;
  readonly #onBug: (error: unknown) => void;
  readonly #unread: UnreadResponses;
  readonly #store = new EventStore();
  readonly #byRequest = new Map<Id, PostExchange>();
  readonly #byStream = new Map<number, PostExchange>();
  #lastStream = OWN_STREAM;
  #events: EventStream | undefined;
  /** The last event of its own stream that was written to a connection. */
  #sentUpTo = 0;
  #handshake: Id | undefined;
  #revision: string | undefined;
  #usedAt = performance.now();
  #isClosed = false;

  constructor(options: HandshakeSessionOptions) {
    this.#options = options;
    this.#onBug = reportBug(options.log);
    this.#session = options.openSession({
      era: 'handshake',
      send: (json, message) => this.#send(json, message),
    });
    this.#unread = new UnreadResponses({
      onFull: (isFull) => this.#session.setFull(isFull),
      onBug: this.#onBug,
    });
  }

  /** Milliseconds since the host last used it; 0 while the host is connected. */
  get idleMs(): number {
    const isInUse = this.#byRequest.size > 0 || this.#events?.isOpen === true;
    return isInUse ? 0 : performance.now() - this.#usedAt;
  }

  /** Handles the body of a POST, or says why not. */
  receive(body: Body, response: ServerResponse): HttpRefusal | undefined {
    this.#usedAt = performance.now();
    const messages = isBatch(body) ? body : [body];
    const ids = messages.flatMap(({ id }) => id ?? []);
    const refused = (isBatch(body) && this.#checkBatch(body)) || this.#checkIds(ids);
    if (refused) return refused;
    if (ids.length > 0) this.#openExchange(messages, isBatch(body), response);
    for (const { text, value } of messages) {
      this.#session.receive({ text, value, framing: 'newline' });
    }
    for (const message of messages) this.#noteCancelled(message);
    if (ids.length === 0) sendNothing(response, 202);
    return undefined;
  }

  /** Opens the stream for messages that belong to no POST, or resumes one that broke. */
  openStream({ headers }: IncomingMessage, response: ServerResponse): HttpRefusal | undefined {
    this.#usedAt = performance.now();
    const lastEventId = headers['last-event-id'];
    const from = typeof lastEventId === 'string' ? parseEventId(lastEventId) : undefined;
    if (lastEventId !== undefined && from === undefined) {
      return badRequest('Invalid Last-Event-ID.');
    }
    if (from && from.stream !== OWN_STREAM) {
      const events = this.#eventStream(response);
      const exchange = this.#byStream.get(from.stream);
      if (exchange) exchange.resume(events, from);
      else this.#replay(events, from.stream, from.number).end();
      return undefined;
    }
    // A client that resumes has lost the stream before, even if we haven't noticed.
    if (this.#events?.isOpen && !from) {
      return refusal(409, 'The session already has a stream. Only one at a time is allowed.');
    }
    this.#events?.end();
    this.#events = this.#eventStream(response);
    this.#replay(this.#events, OWN_STREAM, from?.number ?? this.#sentUpTo);
    const noteUse = (): void => {
      this.#usedAt = performance.now();
    };
    response.once('close', guard(this.#onBug, noteUse));
    return undefined;
  }

  /** Drops events that no client came back for. */
  prune(): void {
    this.#store.prune();
  }

  close(reason: HttpRefusal): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    guard(this.#onBug, () => this.#session.close())();
    for (const exchange of new Set(this.#byRequest.values())) exchange.breakOff(reason);
    this.#byRequest.clear();
    this.#byStream.clear();
    this.#events?.end();
  }

  #checkBatch(batch: readonly Incoming[]): HttpRefusal | undefined {
    if (this.#revision !== BATCH_REVISION) {
      return badRequest(
        `Batches are only supported in MCP revision ${BATCH_REVISION}. Send each message separately.`,
      );
    }
    const isHandshake = batch.some(({ method }) => method === 'initialize');
    return isHandshake ? badRequest('initialize cannot be part of a batch.') : undefined;
  }

  #checkIds(ids: readonly Id[]): HttpRefusal | undefined {
    const [id] = ids;
    if (new Set(ids).size < ids.length || ids.some((one) => this.#byRequest.has(one))) {
      return badRequest('Duplicate id: a request with this id is still running.', { id });
    }
    if (this.#byRequest.size + ids.length <= MOST_RUNNING) return undefined;
    return refusal(503, `This session already has ${MOST_RUNNING} requests running.`, { id });
  }

  #openExchange(messages: readonly Incoming[], isOfBatch: boolean, response: ServerResponse): void {
    const ids = messages.flatMap(({ id }) => id ?? []);
    const handshake = messages.find(({ method }) => method === 'initialize');
    this.#handshake ??= handshake?.id;
    const exchange = new PostExchange({
      ids,
      isBatch: isOfBatch,
      stream: ++this.#lastStream,
      store: this.#store,
      canPrime: this.#revision === NEWEST_REVISION,
      openReply: (onSlow) => new PostReply(response, { ...this.#streamOptions(), onSlow }),
      onDone: () => this.#forget(exchange),
    });
    for (const id of ids) this.#byRequest.set(id, exchange);
    this.#byStream.set(exchange.stream, exchange);
  }

  #forget(exchange: PostExchange): void {
    for (const id of exchange.ids) {
      if (this.#byRequest.get(id) === exchange) this.#byRequest.delete(id);
    }
    this.#byStream.delete(exchange.stream);
    this.#usedAt = performance.now();
  }

  #send(json: string, message: Outgoing): void {
    if (this.#isClosed) return;
    const { about } = message;
    const exchange = about === undefined ? undefined : this.#byRequest.get(about);
    try {
      this.#route(json, message, exchange);
    } catch (error) {
      this.#onBug(error);
      exchange?.breakOff(FAILED);
    }
  }

  #route(json: string, message: Outgoing, exchange: PostExchange | undefined): void {
    const { about } = message;
    if (about !== undefined && message.kind === 'answer') {
      if (about === this.#handshake) this.#noteHandshake(message);
      exchange?.answer(about, json);
    } else if (exchange) exchange.send(json);
    else this.#sendAside(json);
  }

  /** A message that isn't about any of the host's requests: kept until the host opens a stream. */
  #sendAside(json: string): void {
    const number = this.#store.add(OWN_STREAM, json);
    if (!this.#events?.isOpen) return;
    this.#events.send(json, formatEventId({ stream: OWN_STREAM, number }));
    this.#sentUpTo = number;
  }

  #noteHandshake({ result }: OutgoingAnswer): void {
    this.#handshake = undefined;
    if (!isObject(result?.value)) return this.#options.onFailed();
    const { protocolVersion } = result.value;
    this.#revision = typeof protocolVersion === 'string' ? protocolVersion : undefined;
  }

  /** A cancelled request gets no answer, so its POST has nothing to wait for. */
  #noteCancelled({ kind, method, value }: Incoming): void {
    if (kind !== 'notification' || method !== 'notifications/cancelled') return;
    const { requestId } = isObject(value['params']) ? value['params'] : {};
    if (isId(requestId)) this.#byRequest.get(requestId)?.cancel(requestId);
  }

  #replay(events: EventStream, stream: number, after: number): EventStream {
    for (const { number, json } of this.#store.after({ stream, number: after })) {
      events.send(json, formatEventId({ stream, number }));
      if (stream === OWN_STREAM) this.#sentUpTo = number;
    }
    return events;
  }

  #eventStream(response: ServerResponse): EventStream {
    return new EventStream(response, this.#streamOptions());
  }

  #streamOptions() {
    const { keepAliveMs, slowAnswerMs, log } = this.#options;
    const headers = { 'mcp-session-id': this.id };
    return { keepAliveMs, slowAnswerMs, log, headers, onWritten: this.#unread.note };
  }
}
