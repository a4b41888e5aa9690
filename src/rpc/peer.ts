// One end of a JSON-RPC connection, without a transport: matches answers to requests, hands on
// requests and notifications in the order they came, cancels in both directions, and gives every
// request exactly one answer. It knows the two notifications that concern requests themselves,
// `notifications/cancelled` and `notifications/progress`.
import {
  errorText,
  type Id,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isId,
  isObject,
  notificationText,
  RpcError,
  requestText,
  resultText,
} from './message.ts';
import { Verbatim } from './verbatim.ts';

export interface PeerOptions {
  /** Puts one message on the wire. */
  readonly send: (json: string) => void;
  /** Answers a request. An RpcError is answered as it is, any other throw as an internal error. */
  readonly onRequest: (request: IncomingRequest) => Promise<Verbatim>;
  readonly onNotification: (method: string, params: unknown) => void;
  /** A throw in onRequest that is no RpcError: a bug, to be logged. */
  readonly onBug: (error: unknown) => void;
}

export interface IncomingRequest {
  readonly id: Id;
  readonly method: string;
  readonly params: Verbatim | undefined;
  /** Aborted when the other side cancels the request or the connection ends. */
  readonly signal: AbortSignal;
}

export interface RequestOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called for each progress notification that carries the request's token. */
  readonly onProgress?: ((params: Record<string, unknown>) => void) | undefined;
}

/** The answer did not come in time. */
export class RpcTimeout extends Error {
  override readonly name = 'RpcTimeout';
}

/** What a request's parameters may depend on: its id, which is its progress token as well. */
export type Params = Verbatim | undefined | ((id: number) => Verbatim);

interface Pending {
  readonly settle: (answer: Verbatim | Error) => void;
  readonly onProgress: RequestOptions['onProgress'];
}

/** More requests than this are not waited for at once: the other side has stopped answering. */
const MAX_PENDING = 20_000;

export class Peer {
  readonly #options: PeerOptions;
  readonly #pending = new Map<Id, Pending>();
  readonly #running = new Map<Id, AbortController>();
  #lastId = 0;
  #closed: Error | undefined;

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  request(method: string, params: Params, options: RequestOptions): Promise<Verbatim> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw this.#closed;
      options.signal?.throwIfAborted();
      if (this.#pending.size >= MAX_PENDING) {
        throw new RpcError(
          INTERNAL_ERROR,
          `${MAX_PENDING} requests are waiting for an answer already.`,
        );
      }
      const id = ++this.#lastId;
      const { timeoutMs, signal, onProgress } = options;

      const settle = (answer: Verbatim | Error): void => {
        this.#pending.delete(id);
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
        if (answer instanceof Verbatim) resolve(answer);
        else reject(answer);
      };
      const giveUp = (error: Error, reason: string): void => {
        settle(error);
        this.notify('notifications/cancelled', Verbatim.of({ requestId: id, reason }));
      };
      const cancel = (): void =>
        giveUp(signal?.reason as Error, 'The caller cancelled the request.');
      const timer = setTimeout(() => {
        giveUp(new RpcTimeout(`RPC timeout for ${method}`), `No answer within ${timeoutMs} ms.`);
      }, timeoutMs);

      this.#pending.set(id, { settle, onProgress });
      signal?.addEventListener('abort', cancel, { once: true });
      try {
        const text = requestText(id, method, typeof params === 'function' ? params(id) : params);
        this.#options.send(text);
      } catch (error) {
        settle(error as Error);
      }
    });
  }

  notify(method: string, params?: Verbatim): void {
    if (!this.#closed) this.#options.send(notificationText(method, params));
  }

  /** Fails the request that a message was meant for which could not be read. */
  failRequest(id: Id, error: Error): boolean {
    const pending = this.#pending.get(id);
    pending?.settle(error);
    return pending !== undefined;
  }

  /** The ids of the requests that wait for an answer. */
  get waiting(): readonly Id[] {
    return [...this.#pending.keys()];
  }

  /** Takes one message from the wire: a request, a notification or an answer. */
  receive(message: Verbatim): void {
    const { value } = message;
    if (!isObject(value)) return;
    if (typeof value['method'] === 'string') {
      if (value['id'] === undefined) this.#receiveNotification(value['method'], value['params']);
      else void this.answer(message).then((text) => text !== undefined && this.#options.send(text));
    } else if (isId(value['id'])) {
      this.#receiveAnswer(value['id'], message, value);
    }
  }

  /** Runs a request and gives the text of its answer; undefined if it was cancelled meanwhile. */
  async answer(message: Verbatim): Promise<string | undefined> {
    const { id, method, jsonrpc } = message.value as Record<string, unknown>;
    if (!isId(id)) {
      return errorText(
        null,
        new RpcError(INVALID_REQUEST, 'A request id must be a string or a number.'),
      );
    }
    if (jsonrpc !== '2.0' || typeof method !== 'string') {
      return errorText(
        id,
        new RpcError(INVALID_REQUEST, 'A request needs "jsonrpc": "2.0" and a method.'),
      );
    }
    const controller = new AbortController();
    this.#running.set(id, controller);
    try {
      const params = message.member('params');
      const result = await this.#options.onRequest({
        id,
        method,
        params,
        signal: controller.signal,
      });
      return controller.signal.aborted ? undefined : resultText(id, result);
    } catch (error) {
      if (controller.signal.aborted) return undefined;
      if (error instanceof RpcError) return errorText(id, error);
      this.#options.onBug(error);
      return errorText(
        id,
        new RpcError(INTERNAL_ERROR, 'Internal error in Switchboard; its log on stderr says more.'),
      );
    } finally {
      // A second request under the same id has its own controller, which must stay.
      if (this.#running.get(id) === controller) this.#running.delete(id);
    }
  }

  /** Ends the connection: requests that wait fail with `error`, those that run are cancelled. */
  close(error: Error): void {
    if (this.#closed) return;
    this.#closed = error;
    for (const pending of this.#pending.values()) pending.settle(error);
    for (const controller of this.#running.values()) controller.abort(error);
    this.#running.clear();
  }

  #receiveNotification(method: string, params: unknown): void {
    if (method === 'notifications/cancelled' && isObject(params) && isId(params['requestId'])) {
      this.#running.get(params['requestId'])?.abort(new Error('The caller cancelled the request.'));
    } else if (method === 'notifications/progress' && isObject(params)) {
      const token = params['progressToken'];
      if (isId(token)) this.#pending.get(token)?.onProgress?.(params);
    } else {
      this.#options.onNotification(method, params);
    }
  }

  #receiveAnswer(id: Id, message: Verbatim, value: Record<string, unknown>): void {
    // Some servers hand a number back as a string.
    const pending = this.#pending.get(id) ?? this.#pending.get(Number(id));
    if (!pending) return; // unknown, late or second: nobody waits for it
    const error = value['error'];
    if (isObject(error)) {
      const code = Number.isInteger(error['code']) ? (error['code'] as number) : INTERNAL_ERROR;
      const text = typeof error['message'] === 'string' ? error['message'] : 'unknown error';
      pending.settle(new RpcError(code, text, message.member('error', 'data')));
    } else {
      pending.settle(
        message.member('result') ??
          new RpcError(INTERNAL_ERROR, 'The answer has neither a result nor an error.'),
      );
    }
  }
}
