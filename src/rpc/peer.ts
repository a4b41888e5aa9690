// One end of a JSON-RPC connection, without a transport: matches answers to requests, hands on
// requests and notifications in the order they came, cancels in both directions, and gives every
// request exactly one answer. It knows the two notifications that concern requests themselves,
// `notifications/cancelled` and `notifications/progress`.
import { Cancellation } from '../base/cancellation.ts';
import { guard } from '../base/guard.ts';
import { isObject } from '../base/object.ts';
import { Underway } from '../base/underway.ts';
import {
  errorText,
  type Id,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isId,
  notificationText,
  RpcError,
  requestText,
  resultText,
} from './message.ts';
import { Verbatim } from './verbatim.ts';
import { Waiting } from './waiting.ts';

export interface PeerOptions {
  /**
   * Puts one message on the wire. `about` is the request of the other side that it concerns, where it
   * does, and `isAnswer` says whether it is the answer to it. When the wire is gone, `close` is called.
   */
  readonly send: (json: string, about?: Id, isAnswer?: boolean) => void;
  /** Answers a request. An RpcError is answered as it is, any other throw as an internal error. */
  readonly onRequest: (request: IncomingRequest) => Verbatim | Promise<Verbatim>;
  readonly onNotification: (method: string, params: Verbatim | undefined) => void;
  /**
   * Logs a bug: a throw in onRequest that is not an RpcError, or in any other callback. Only the message
   * it concerns is lost.
   */
  readonly onBug: (error: unknown) => void;
  /** Whether the other side may leave out `jsonrpc`, as the engine of agents does. */
  readonly mayOmitVersion?: boolean | undefined;
}

export interface IncomingRequest {
  readonly id: Id;
  readonly method: string;
  readonly params: Verbatim | undefined;
  /** Cancelled when the other side calls the request off, or the connection ends. */
  readonly cancellation: Cancellation;
}

export interface RequestOptions {
  readonly timeoutMs: number;
  readonly cancellation?: Cancellation | undefined;
  /** Called with the parameters of each progress notification that carries the request's token. */
  readonly onProgress?: ((params: Verbatim) => void) | undefined;
  /** The request of the other side in whose course this one is made. */
  readonly about?: Id | undefined;
  /** Called when it does not wait for an answer any more; abandoned: though none has come. */
  readonly onSettled?: ((isAbandoned: boolean) => void) | undefined;
}

/** The answer did not come in time. */
export class RpcTimeout extends Error {
  override readonly name = 'RpcTimeout';
}

/** What a request's parameters may depend on: its id, which is its progress token as well. */
export type Params = Verbatim | undefined | ((id: number) => Verbatim);

/** A request that waits for its answer. */
interface Pending {
  readonly id: number;
  readonly method: string;
  readonly options: RequestOptions;
  /** When it is given up, on the clock of `performance`; never, while the limit is suspended. */
  deadline: number;
  readonly resolve: (answer: Verbatim) => void;
  readonly reject: (error: Error) => void;
  readonly cancel: () => void;
}

/** More requests than this are not waited for at once: the other side has stopped answering. */
const MAX_PENDING = 20_000;
/** How long requests that were cancelled at the end may take to say so. */
const LAST_ANSWERS_MS = 250;

/** A request of the other side that is being answered. */
interface Running extends IncomingRequest {
  readonly idText: string;
}

export class Peer {
  readonly #options: PeerOptions;
  readonly #pending = new Waiting<Pending>();
  readonly #running = new Underway<Running>();
  /** One timer for all time limits: one for each request would cost more than sending it. */
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;
  #closed: Error | undefined;
  /** Why the other side answers nothing more. */
  #deaf: Error | undefined;
  /** Set while the last answers are waited for: called when none is left. */
  #onIdle: (() => void) | undefined;

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  request(method: string, params: Params, options: RequestOptions): Promise<Verbatim> {
    return new Promise((resolve, reject) => {
      const { cancellation, timeoutMs } = options;
      if (this.#deaf) throw this.#deaf;
      cancellation?.throwIfCancelled();
      if (this.#pending.size >= MAX_PENDING) {
        throw new RpcError(INTERNAL_ERROR, `${MAX_PENDING} requests wait for an answer already.`);
      }
      const id = this.#pending.nextId();
      const text = requestText(id, method, typeof params === 'function' ? params(id) : params);
      const deadline = performance.now() + timeoutMs;
      const cancel = (): void => {
        const error = cancellation?.reason ?? new Error('The request was cancelled.');
        this.#giveUp(pending, error, 'The caller cancelled the request.');
      };
      const pending: Pending = { id, method, options, deadline, resolve, reject, cancel };
      this.#pending.add(pending);
      cancellation?.listen(cancel);
      if (deadline < this.#timerAt) this.#setTimer(deadline);
      try {
        this.#options.send(text, options.about);
      } catch (error) {
        this.#settle(pending, error as Error);
      }
    });
  }

  notify(method: string, params?: Verbatim, about?: Id): void {
    if (!this.#closed) this.#send(notificationText(method, params), about, false);
  }

  /** Lets the time of a request stand still: the other side waits for us. */
  suspendLimit(id: number): void {
    const pending = this.#pending.get(id);
    if (pending) pending.deadline = Infinity;
  }

  /** Gives a request its whole time again. */
  restartLimit(id: number): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    pending.deadline = performance.now() + pending.options.timeoutMs;
    if (pending.deadline < this.#timerAt) this.#setTimer(pending.deadline);
  }

  /** Fails the request whose answer could not be read. */
  failRequest(id: Id, error: Error): void {
    const pending = this.#findPending(id);
    if (pending) this.#settle(pending, error);
  }

  /** The ids of the requests that wait for an answer. */
  get waiting(): readonly Id[] {
    return this.underway.map(({ id }) => id);
  }

  /** Those requests with what they were made with, oldest first. */
  get underway(): readonly { readonly id: number; readonly options: RequestOptions }[] {
    return this.#pending.all();
  }

  /** Takes one message from the wire: a request, a notification or an answer. */
  receive(message: Verbatim): void {
    const { value } = message;
    if (!isObject(value)) return;
    const { id, method } = value;
    try {
      if (typeof method === 'string') {
        if (id === undefined) this.#receiveNotification(method, message);
        else this.answer(message).then((text) => this.#sendAnswer(text, id), this.#options.onBug);
      } else if (isId(id) && ('result' in value || 'error' in value || 'jsonrpc' in value)) {
        this.#receiveAnswer(id, message, value);
      }
    } catch (error) {
      this.#options.onBug(error);
    }
  }

  /** Runs a request and gives the text of its answer; undefined if it was cancelled meanwhile. */
  async answer(message: Verbatim): Promise<string | undefined> {
    const { id, method, jsonrpc } = message.value as Record<string, unknown>;
    if (!isId(id)) {
      return errorText(
        'null',
        new RpcError(INVALID_REQUEST, 'A request id is a string or a number.'),
      );
    }
    const idText = textOfId(id, message);
    const hasVersion =
      jsonrpc === '2.0' || (jsonrpc === undefined && this.#options.mayOmitVersion === true);
    if (!hasVersion || typeof method !== 'string') {
      return errorText(
        idText,
        new RpcError(INVALID_REQUEST, 'A request needs "jsonrpc": "2.0" and a method.'),
      );
    }
    const cancellation = new Cancellation();
    const request = { id, idText, method, params: message.member('params'), cancellation };
    const place = this.#running.add(request);
    try {
      const result = await this.#options.onRequest(request);
      return cancellation.reason ? answerTo(request) : resultText(idText, result);
    } catch (error) {
      if (cancellation.reason) return answerTo(request);
      if (error instanceof RpcError) return errorText(idText, error);
      this.#options.onBug(error);
      return errorText(
        idText,
        new RpcError(INTERNAL_ERROR, 'Internal error in Switchboard; its log on stderr says more.'),
      );
    } finally {
      this.#running.remove(place);
      if (this.#onIdle && this.#running.isEmpty) this.#onIdle();
    }
  }

  /**
   * The other side sends nothing more. Requests of ours fail; its own are answered as they finish. Those
   * that take longer than the limit are cancelled and answered with the error. Then it is closed.
   */
  async finish(limitMs: number, error: RpcError): Promise<void> {
    if (this.#closed) return;
    const unanswered = new RpcTimeout('The other side answers nothing more.');
    this.#deaf = unanswered;
    for (const pending of this.#pending.all()) this.#settle(pending, unanswered, true);
    await this.#idle(limitMs);
    for (const { cancellation } of this.#running.all()) cancellation.cancel(error);
    await this.#idle(LAST_ANSWERS_MS);
    for (const { id, idText } of this.#running.all())
      this.#sendAnswer(errorText(idText, error), id);
    this.close(error);
  }

  /** Ends the connection: requests that wait fail with `error`, those that run are cancelled. */
  close(error: Error): void {
    if (this.#closed) return;
    this.#closed = error;
    this.#deaf = error;
    clearTimeout(this.#timer);
    for (const pending of this.#pending.all()) this.#settle(pending, error);
    const cancel = guard(this.#options.onBug, (one: Cancellation) => one.cancel(error));
    for (const { cancellation } of this.#running.all()) cancel(cancellation);
    this.#onIdle?.();
  }

  /** Resolves when every request has its answer, at the latest after the limit. */
  #idle(limitMs: number): Promise<void> {
    if (this.#running.isEmpty || this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        setImmediate(resolve); // the last answer is sent before
      };
    });
  }

  #settle(pending: Pending, answer: Verbatim | Error, isAbandoned = false): void {
    this.#pending.remove(pending);
    const { cancellation, onSettled } = pending.options;
    cancellation?.unlisten(pending.cancel);
    try {
      onSettled?.(isAbandoned);
    } catch (error) {
      this.#options.onBug(error);
    }
    if (answer instanceof Verbatim) pending.resolve(answer);
    else pending.reject(answer);
  }

  #giveUp(pending: Pending, error: Error, reason: string): void {
    this.#settle(pending, error, true);
    // What comes before a greeting, MCP has nobody cancel.
    if (pending.method === 'initialize' || pending.method === 'server/discover') return;
    this.notify('notifications/cancelled', Verbatim.of({ requestId: pending.id, reason }));
  }

  #setTimer(at: number): void {
    clearTimeout(this.#timer);
    this.#timerAt = at;
    const giveUp = guard(this.#options.onBug, () => this.#giveUpOverdue());
    const timer = setTimeout(giveUp, Math.max(1, at - performance.now()));
    // What we wait for keeps us running, not the clock.
    this.#timer = timer.unref();
  }

  #giveUpOverdue(): void {
    const now = performance.now() + 1; // timers may come a little early
    this.#timerAt = Infinity;
    for (const pending of this.#pending.all()) {
      const { method, deadline, options } = pending;
      if (deadline > now) continue;
      const error = new RpcTimeout(`RPC timeout for ${method}`);
      this.#giveUp(pending, error, `No answer within ${options.timeoutMs} ms.`);
    }
    let next = Infinity;
    for (const { deadline } of this.#pending.all()) next = Math.min(next, deadline);
    if (next < Infinity) this.#setTimer(next);
  }

  #sendAnswer(text: string | undefined, id: unknown): void {
    if (text !== undefined) this.#send(text, isId(id) ? id : undefined, true);
  }

  #send(text: string, about: Id | undefined, isAnswer: boolean): void {
    if (this.#closed) return;
    try {
      this.#options.send(text, about, isAnswer);
    } catch (error) {
      this.#options.onBug(error);
    }
  }

  #receiveNotification(method: string, message: Verbatim): void {
    const params = message.member('params');
    const { requestId, progressToken } = isObject(params?.value) ? params.value : {};
    if (method === 'notifications/cancelled' && isId(requestId)) {
      this.#cancelRunning(requestId);
    } else if (method === 'notifications/progress' && params && isId(progressToken)) {
      this.#pending.get(progressToken)?.options.onProgress?.(params);
    } else {
      this.#options.onNotification(method, params);
    }
  }

  #cancelRunning(requestId: Id): void {
    const running = this.#running.all().findLast(({ id }) => id === requestId);
    running?.cancellation.cancel(new Error('The caller cancelled the request.'));
  }

  /** Some servers return a number as a string. */
  #findPending(id: Id): Pending | undefined {
    return this.#pending.get(id) ?? this.#pending.get(Number(id));
  }

  #receiveAnswer(id: Id, message: Verbatim, value: Record<string, unknown>): void {
    const pending = this.#findPending(id);
    if (!pending) return; // unknown, late or second: nobody waits for it
    const { error } = value;
    if (isObject(error)) {
      const code = Number.isInteger(error['code']) ? (error['code'] as number) : INTERNAL_ERROR;
      const text = typeof error['message'] === 'string' ? error['message'] : 'unknown error';
      this.#settle(pending, new RpcError(code, text, message.member('error', 'data')));
    } else {
      this.#settle(pending, message.member('result') ?? noAnswer());
    }
  }
}

/** What a cancelled request is answered with: nothing, unless the reason is meant as the answer. */
function answerTo({ idText, cancellation: { reason } }: Running): string | undefined {
  return reason instanceof RpcError ? errorText(idText, reason) : undefined;
}

function noAnswer(): RpcError {
  return new RpcError(INTERNAL_ERROR, 'The answer has neither a result nor an error.');
}

/** An id as it was written: a number may have more digits than JavaScript keeps. */
function textOfId(id: Id, message: Verbatim): string {
  if (typeof id === 'string') return JSON.stringify(id);
  return Number.isSafeInteger(id) ? String(id) : (message.member('id')?.text ?? 'null');
}
