// One end of a JSON-RPC connection, without a transport: matches answers to requests, hands on
// requests and notifications in the order they came, cancels in both directions, and gives every
// request exactly one answer. It knows the two notifications that concern requests themselves,
// `notifications/cancelled` and `notifications/progress`.
import { Cancellation } from '../base/cancellation.ts';
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
  /** Puts one message on the wire. Does not throw: a wire that is gone ends by `close`. */
  readonly send: (json: string) => void;
  /** Answers a request. An RpcError is answered as it is, any other throw as an internal error. */
  readonly onRequest: (request: IncomingRequest) => Verbatim | Promise<Verbatim>;
  readonly onNotification: (method: string, params: unknown) => void;
  /** A throw in onRequest that is no RpcError: a bug, to be logged. */
  readonly onBug: (error: unknown) => void;
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
  readonly #running = new Map<Id, Cancellation>();
  #lastId = 0;
  #closed: Error | undefined;

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  request(method: string, params: Params, options: RequestOptions): Promise<Verbatim> {
    return new Promise((resolve, reject) => {
      const { timeoutMs, cancellation, onProgress } = options;
      if (this.#closed) throw this.#closed;
      cancellation?.throwIfCancelled();
      if (this.#pending.size >= MAX_PENDING) {
        throw new RpcError(INTERNAL_ERROR, `${MAX_PENDING} requests wait for an answer already.`);
      }
      const id = ++this.#lastId;
      const text = requestText(id, method, typeof params === 'function' ? params(id) : params);

      const settle = (answer: Verbatim | Error): void => {
        this.#pending.delete(id);
        clearTimeout(timer);
        cancellation?.unlisten(cancel);
        if (answer instanceof Verbatim) resolve(answer);
        else reject(answer);
      };
      const giveUp = (error: Error, reason: string): void => {
        settle(error);
        this.notify('notifications/cancelled', Verbatim.of({ requestId: id, reason }));
      };
      const cancel = (): void => {
        giveUp(cancellation?.reason ?? new Error('cancelled'), 'The caller cancelled the request.');
      };
      const timer = setTimeout(() => {
        giveUp(new RpcTimeout(`RPC timeout for ${method}`), `No answer within ${timeoutMs} ms.`);
      }, timeoutMs);

      this.#pending.set(id, { settle, onProgress });
      cancellation?.listen(cancel);
      this.#options.send(text);
    });
  }

  notify(method: string, params?: Verbatim): void {
    if (!this.#closed) this.#options.send(notificationText(method, params));
  }

  /** Fails the request that a message was meant for which could not be read. */
  failRequest(id: Id, error: Error): void {
    this.#pending.get(id)?.settle(error);
  }

  /** The ids of the requests that wait for an answer. */
  get waiting(): readonly Id[] {
    return [...this.#pending.keys()];
  }

  /** Takes one message from the wire: a request, a notification or an answer. */
  receive(message: Verbatim): void {
    const { value } = message;
    if (!isObject(value)) return;
    const { id, method } = value;
    if (typeof method === 'string') {
      if (id === undefined) this.#receiveNotification(method, message);
      else void this.#answerAndSend(message);
    } else if (isId(id)) {
      this.#receiveAnswer(id, message, value);
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
    if (jsonrpc !== '2.0' || typeof method !== 'string') {
      return errorText(
        idText,
        new RpcError(INVALID_REQUEST, 'A request needs "jsonrpc": "2.0" and a method.'),
      );
    }
    const cancellation = new Cancellation();
    this.#running.set(id, cancellation);
    try {
      const params = message.member('params');
      const result = await this.#options.onRequest({ id, method, params, cancellation });
      return cancellation.reason ? undefined : resultText(idText, result);
    } catch (error) {
      if (cancellation.reason) return undefined;
      if (error instanceof RpcError) return errorText(idText, error);
      this.#options.onBug(error);
      return errorText(
        idText,
        new RpcError(INTERNAL_ERROR, 'Internal error in Switchboard; its log on stderr says more.'),
      );
    } finally {
      // A second request under the same id has its own cancellation, which must stay.
      if (this.#running.get(id) === cancellation) this.#running.delete(id);
    }
  }

  /** Ends the connection: requests that wait fail with `error`, those that run are cancelled. */
  close(error: Error): void {
    if (this.#closed) return;
    this.#closed = error;
    for (const pending of this.#pending.values()) pending.settle(error);
    for (const cancellation of this.#running.values()) cancellation.cancel(error);
    this.#running.clear();
  }

  async #answerAndSend(message: Verbatim): Promise<void> {
    const text = await this.answer(message);
    if (text !== undefined && !this.#closed) this.#options.send(text);
  }

  #receiveNotification(method: string, message: Verbatim): void {
    const params = message.member('params');
    const { requestId, progressToken } = isObject(params?.value) ? params.value : {};
    if (method === 'notifications/cancelled' && isId(requestId)) {
      this.#running.get(requestId)?.cancel(new Error('The caller cancelled the request.'));
    } else if (method === 'notifications/progress' && params && isId(progressToken)) {
      this.#pending.get(progressToken)?.onProgress?.(params);
    } else {
      this.#options.onNotification(method, params?.value);
    }
  }

  #receiveAnswer(id: Id, message: Verbatim, value: Record<string, unknown>): void {
    // Some servers hand a number back as a string.
    const pending = this.#pending.get(id) ?? this.#pending.get(Number(id));
    if (!pending) return; // unknown, late or second: nobody waits for it
    const { error } = value;
    if (isObject(error)) {
      const code = Number.isInteger(error['code']) ? (error['code'] as number) : INTERNAL_ERROR;
      const text = typeof error['message'] === 'string' ? error['message'] : 'unknown error';
      pending.settle(new RpcError(code, text, message.member('error', 'data')));
    } else {
      pending.settle(message.member('result') ?? noAnswer());
    }
  }
}

function noAnswer(): RpcError {
  return new RpcError(INTERNAL_ERROR, 'The answer has neither a result nor an error.');
}

/** An id as it was written: a number may have more digits than JavaScript keeps. */
function textOfId(id: Id, message: Verbatim): string {
  if (typeof id === 'string') return JSON.stringify(id);
  return Number.isSafeInteger(id) ? String(id) : (message.member('id')?.text ?? 'null');
}
