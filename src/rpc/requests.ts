// Our own requests on a connection: their ids, answers, time limits and cancellation.
import type { Cancellation } from '../base/cancellation.ts';
import { guard } from '../base/guard.ts';
import { isObject } from '../base/object.ts';
import {
  type Id,
  INTERNAL_ERROR,
  type Outgoing,
  type OutgoingRequest,
  RpcError,
  requestText,
} from './message.ts';
import { Verbatim } from './verbatim.ts';
import { Waiting } from './waiting.ts';

export interface RequestOptions {
  readonly timeoutMs: number;
  readonly cancellation?: Cancellation | undefined;
  /** Called with the parameters of each progress notification for this request. */
  readonly onProgress?: ((params: Verbatim) => void) | undefined;
  /** Whose request it is, so that all of an owner's requests can be abandoned. */
  readonly owner?: object | undefined;
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

interface RequestsOptions {
  readonly send: (json: string, message: Outgoing) => void;
  /** Tells the other side that we no longer wait for its response. */
  readonly sendCancelled: (id: number, reason: string) => void;
  readonly onBug: (error: unknown) => void;
  /** Ids up to here were used before. */
  readonly lastId?: number | undefined;
}

export class Requests {
  readonly #options: RequestsOptions;
  readonly #pending: Waiting<Pending>;
  /** One timer for all time limits: a timer per request would cost more than sending it. */
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;
  /** Why the other side no longer answers. */
  #closed: Error | undefined;

  constructor(options: RequestsOptions) {
    this.#options = options;
    this.#pending = new Waiting(options.lastId);
  }

  request(method: string, params: Params, options: RequestOptions): Promise<Verbatim> {
    return new Promise((resolve, reject) => {
      const { cancellation, timeoutMs } = options;
      if (this.#closed) throw this.#closed;
      cancellation?.throwIfCancelled();
      if (this.#pending.size >= MAX_PENDING) {
        throw new RpcError(
          INTERNAL_ERROR,
          `${MAX_PENDING} requests are already waiting for a response.`,
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
  fail(id: Id, error: Error): void {
    const pending = this.#find(id);
    if (pending) this.#settle(pending, error);
  }

  /** Fails an owner's requests, and tells the other side that we no longer wait. */
  abandon(owner: object, error: Error, reason: string): void {
    for (const pending of this.#pending.all()) {
      if (pending.options.owner === owner) this.#giveUp(pending, error, reason);
    }
  }

  /** The ids of the requests that wait for an answer, oldest first. */
  get ids(): readonly number[] {
    return this.#pending.all().map(({ id }) => id);
  }

  receiveAnswer(id: Id, message: Verbatim, error: unknown): void {
    const pending = this.#find(id);
    if (!pending) return; // unknown, late or duplicate
    if (isObject(error)) {
      const code = Number.isInteger(error['code']) ? (error['code'] as number) : INTERNAL_ERROR;
      const text = typeof error['message'] === 'string' ? error['message'] : 'unknown error';
      this.#settle(pending, new RpcError(code, text, message.member('error', 'data')));
    } else {
      this.#settle(pending, message.member('result') ?? noAnswer());
    }
  }

  receiveProgress(token: Id, params: Verbatim): void {
    this.#pending.get(token)?.options.onProgress?.(params);
  }

  /** Fails the open requests and all later ones. Abandoned means that the other side may still be working on them. */
  close(error: Error, isAbandoned = false): void {
    this.#closed = error;
    clearTimeout(this.#timer);
    for (const pending of this.#pending.all()) this.#settle(pending, error, isAbandoned);
  }

  /** Some servers return a numeric id as a string. */
  #find(id: Id): Pending | undefined {
    return this.#pending.get(id) ?? this.#pending.get(Number(id));
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
    this.#options.sendCancelled(pending.id, reason);
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
      this.#giveUp(pending, error, `No response within ${options.timeoutMs} ms.`);
    }
    let next = Infinity;
    for (const { deadline } of this.#pending.all()) next = Math.min(next, deadline);
    if (next < Infinity) this.#setTimer(next);
  }
}

function noAnswer(): RpcError {
  return new RpcError(INTERNAL_ERROR, 'The response has neither a result nor an error.');
}
