// One end of a JSON-RPC connection, without a transport. It matches answers to requests, delivers
// requests and notifications in order, cancels in both directions, and answers each request exactly
// once. It handles the two notifications that are about requests, `notifications/cancelled` and
// `notifications/progress`.
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
  type Outgoing,
  type OutgoingAnswer,
  type OutgoingRequest,
  RpcError,
  requestText,
  resultText,
} from './message.ts';
import { Verbatim } from './verbatim.ts';
import { Waiting } from './waiting.ts';

export interface PeerOptions {
  /** Puts one message on the wire; `message` says what it is. The owner calls `close` when the wire is gone. */
  readonly send: (json: string, message: Outgoing) => void;
  /** Answers a request. An RpcError becomes the answer; any other throw is an internal error. */
  readonly onRequest: (request: IncomingRequest) => Verbatim | Promise<Verbatim>;
  readonly onNotification: (method: string, params: Verbatim | undefined) => void;
  /** Logs a bug: a callback that throws, unless onRequest throws an RpcError. Only that message is lost. */
  readonly onBug: (error: unknown) => void;
  /** Whether the other side may omit `jsonrpc`, as Codex does. */
  readonly mayOmitVersion?: boolean | undefined;
}

export interface IncomingRequest {
  readonly id: Id;
  readonly method: string;
  readonly params: Verbatim | undefined;
  /** Cancelled when the other side cancels the request, or the connection ends. */
  readonly cancellation: Cancellation;
}

/** An answer that is ready to be sent. */
export interface Answer extends OutgoingAnswer {
  readonly text: string;
}

export interface RequestOptions {
  readonly timeoutMs: number;
  readonly cancellation?: Cancellation | undefined;
  /** Called with the parameters of each progress notification for this request. */
  readonly onProgress?: ((params: Verbatim) => void) | undefined;
  /** The other side's request that this one belongs to. */
  readonly about?: Id | undefined;
  /** Parameters that the transport has to repeat next to the text. */
  readonly mirrored?: Verbatim | undefined;
  /** Called with its id right before it is sent. */
  onSend?(id: number): void;
  /** Called when it no longer waits for an answer. Abandoned means none has arrived. */
  onSettled?(isAbandoned: boolean): void;
}

/** No answer came in time. */
export class RpcTimeout extends Error {
  override readonly name = 'RpcTimeout';
}

/** Parameters may depend on the request's id, which is also its progress token. */
export type Params = Verbatim | undefined | ((id: number) => Verbatim);

/** A request that waits for its answer. */
interface Pending extends OutgoingRequest {
  readonly options: RequestOptions;
  /** When it times out, by `performance.now()`; Infinity while the limit is suspended. */
  deadline: number;
  readonly resolve: (answer: Verbatim) => void;
  readonly reject: (error: Error) => void;
  readonly cancel: () => void;
}

/** With this many open requests, the other side has stopped answering. */
const MAX_PENDING = 20_000;
/** How long requests that were cancelled at shutdown may take to answer. */
const LAST_ANSWERS_MS = 250;

/** A request from the other side that is being answered. */
interface Running extends IncomingRequest {
  readonly idText: string;
}

export class Peer {
  readonly #options: PeerOptions;
  readonly #pending = new Waiting<Pending>();
  readonly #running = new Underway<Running>();
  /** One timer for all time limits: a timer per request would cost more than sending it. */
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;
  #closed: Error | undefined;
  /** Why the other side no longer answers. */
  #deaf: Error | undefined;
  /** Set while `finish` waits for the last answers; called when none is left. */
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
        throw new RpcError(
          INTERNAL_ERROR,
          `${MAX_PENDING} requests are already waiting for an answer.`,
        );
      }
      const id = this.#pending.nextId();
      const text = requestText(id, method, typeof params === 'function' ? params(id) : params);
      const deadline = performance.now() + timeoutMs;
      const cancel = (): void => {
        const error = cancellation?.reason ?? new Error('The request was cancelled.');
        this.#giveUp(pending, error, 'The caller cancelled the request.');
      };
      const pending: Pending = {
        kind: 'request',
        id,
        method,
        about: options.about,
        mirrored: options.mirrored,
        options,
        deadline,
        resolve,
        reject,
        cancel,
      };
      this.#pending.add(pending);
      cancellation?.listen(cancel);
      if (deadline < this.#timerAt) this.#setTimer(deadline);
      try {
        options.onSend?.(id);
        this.#options.send(text, pending);
      } catch (error) {
        this.#settle(pending, error as Error);
      }
    });
  }

  notify(method: string, params?: Verbatim, about?: Id): void {
    this.#notify(method, params, about, undefined);
  }

  /** Stops a request's clock while the other side is waiting for us. */
  suspendLimit(id: number): void {
    const pending = this.#pending.get(id);
    if (pending) pending.deadline = Infinity;
  }

  /** Gives a request its full time again. */
  restartLimit(id: number): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    pending.deadline = performance.now() + pending.options.timeoutMs;
    if (pending.deadline < this.#timerAt) this.#setTimer(pending.deadline);
  }

  /** Fails a request whose answer couldn't be read. */
  failRequest(id: Id, error: Error): void {
    const pending = this.#findPending(id);
    if (pending) this.#settle(pending, error);
  }

  /** The ids of the requests that wait for an answer, oldest first. */
  get waiting(): readonly number[] {
    return this.#pending.all().map(({ id }) => id);
  }

  /** Takes one message from the wire: a request, a notification or an answer. */
  receive(message: Verbatim): void {
    const { value } = message;
    if (!isObject(value)) return;
    const { id, method } = value;
    try {
      if (typeof method === 'string') {
        if (id === undefined) this.#receiveNotification(method, message);
        else this.answer(message).then(this.#sendAnswer, this.#options.onBug);
      } else if (isId(id) && ('result' in value || 'error' in value || 'jsonrpc' in value)) {
        this.#receiveAnswer(id, message, value);
      }
    } catch (error) {
      this.#options.onBug(error);
    }
  }

  /** Runs a request and returns its answer; undefined if it was cancelled meanwhile. */
  async answer(message: Verbatim): Promise<Answer | undefined> {
    const { id, method, jsonrpc } = message.value as Record<string, unknown>;
    if (!isId(id)) {
      const error = new RpcError(INVALID_REQUEST, 'A request id must be a string or a number.');
      return errorAnswer(undefined, 'null', error);
    }
    const idText = textOfId(id, message);
    const hasVersion =
      jsonrpc === '2.0' || (jsonrpc === undefined && this.#options.mayOmitVersion === true);
    if (!hasVersion || typeof method !== 'string') {
      const error = new RpcError(INVALID_REQUEST, 'A request needs "jsonrpc": "2.0" and a method.');
      return errorAnswer(id, idText, error);
    }
    const cancellation = new Cancellation();
    const request = { id, idText, method, params: message.member('params'), cancellation };
    const place = this.#running.add(request);
    try {
      const result = await this.#options.onRequest(request);
      return cancellation.reason ? answerTo(request) : resultAnswer(id, idText, result);
    } catch (error) {
      if (cancellation.reason) return answerTo(request);
      if (error instanceof RpcError) return errorAnswer(id, idText, error);
      this.#options.onBug(error);
      const reason = 'Internal error in Switchboard. See its log on stderr.';
      return errorAnswer(id, idText, new RpcError(INTERNAL_ERROR, reason));
    } finally {
      this.#running.remove(place);
      if (this.#onIdle && this.#running.isEmpty) this.#onIdle();
    }
  }

  /**
   * The other side has sent its last message. Our requests fail; its own are still answered, and after the
   * limit the rest are cancelled and answered with the error. Then the peer is closed.
   */
  async finish(limitMs: number, error: RpcError): Promise<void> {
    if (this.#closed) return;
    const unanswered = new RpcTimeout('The other side has closed its output.');
    this.#deaf = unanswered;
    for (const pending of this.#pending.all()) this.#settle(pending, unanswered, true);
    await this.#idle(limitMs);
    for (const { cancellation } of this.#running.all()) cancellation.cancel(error);
    await this.#idle(LAST_ANSWERS_MS);
    for (const { id, idText } of this.#running.all()) {
      this.#sendAnswer(errorAnswer(id, idText, error));
    }
    this.close(error);
  }

  /** Ends the connection: our open requests fail with `error`, the other side's are cancelled. */
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

  /** Resolves when every request has its answer, or after the limit. */
  #idle(limitMs: number): Promise<void> {
    if (this.#running.isEmpty || this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        setImmediate(resolve); // after the last answer has been sent
      };
    });
  }

  #settle(pending: Pending, answer: Verbatim | Error, isAbandoned = false): void {
    this.#pending.remove(pending);
    const { options } = pending;
    options.cancellation?.unlisten(pending.cancel);
    try {
      options.onSettled?.(isAbandoned);
    } catch (error) {
      this.#options.onBug(error);
    }
    if (answer instanceof Verbatim) pending.resolve(answer);
    else pending.reject(answer);
  }

  #giveUp(pending: Pending, error: Error, reason: string): void {
    this.#settle(pending, error, true);
    // MCP doesn't allow cancelling these two.
    if (pending.method === 'initialize' || pending.method === 'server/discover') return;
    const params = Verbatim.of({ requestId: pending.id, reason });
    this.#notify('notifications/cancelled', params, undefined, pending.id);
  }

  #setTimer(at: number): void {
    clearTimeout(this.#timer);
    this.#timerAt = at;
    const giveUp = guard(this.#options.onBug, () => this.#giveUpOverdue());
    const timer = setTimeout(giveUp, Math.max(1, at - performance.now()));
    // A timer alone must not keep the program running.
    this.#timer = timer.unref();
  }

  #giveUpOverdue(): void {
    const now = performance.now() + 1; // timers can fire slightly early
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

  #notify(
    method: string,
    params: Verbatim | undefined,
    about: Id | undefined,
    cancels: number | undefined,
  ): void {
    if (this.#closed) return;
    this.#send(notificationText(method, params), { kind: 'notification', method, about, cancels });
  }

  /** Bound once: it is the last step of every request. */
  readonly #sendAnswer = (answer: Answer | undefined): void => {
    if (answer) this.#send(answer.text, answer);
  };

  #send(text: string, message: Outgoing): void {
    if (this.#closed) return;
    try {
      this.#options.send(text, message);
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

  /** Some servers return a numeric id as a string. */
  #findPending(id: Id): Pending | undefined {
    return this.#pending.get(id) ?? this.#pending.get(Number(id));
  }

  #receiveAnswer(id: Id, message: Verbatim, value: Record<string, unknown>): void {
    const pending = this.#findPending(id);
    if (!pending) return; // unknown, late or duplicate
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

/** A cancelled request has no answer, unless the reason is meant as one. */
function answerTo({ id, idText, cancellation: { reason } }: Running): Answer | undefined {
  return reason instanceof RpcError ? errorAnswer(id, idText, reason) : undefined;
}

function resultAnswer(about: Id, idText: string, result: Verbatim): Answer {
  const text = resultText(idText, result);
  return { kind: 'answer', about, result, error: undefined, text };
}

function errorAnswer(about: Id | undefined, idText: string, error: RpcError): Answer {
  const text = errorText(idText, error);
  return { kind: 'answer', about, result: undefined, error, text };
}

function noAnswer(): RpcError {
  return new RpcError(INTERNAL_ERROR, 'The answer has neither a result nor an error.');
}

/** The id as it was written: a number may have more digits than JavaScript can hold. */
function textOfId(id: Id, message: Verbatim): string {
  if (typeof id === 'string') return JSON.stringify(id);
  return Number.isSafeInteger(id) ? String(id) : (message.member('id')?.text ?? 'null');
}
