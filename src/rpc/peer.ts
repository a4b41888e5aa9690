// One end of a JSON-RPC connection, without a transport. It delivers the other side's requests and notifications in
// order, and answers each request exactly once. It handles the two notifications that are about requests,
// `notifications/cancelled` and `notifications/progress`. Our own requests are in `requests.ts`.
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
  RpcError,
  resultPieces,
  resultText,
} from './message.ts';
import { type Params, type RequestOptions, Requests, RpcTimeout } from './requests.ts';
import { Verbatim } from './verbatim.ts';

export interface PeerOptions {
  /** Puts one message on the wire; `message` says what it is. The owner calls `close` when the wire is gone. */
  readonly send: (json: string, message: Outgoing) => void;
  /** Does the same for a message that is too large to become a string. It has no line breaks. */
  readonly sendPieces?: ((json: readonly Buffer[], message: Outgoing) => void) | undefined;
  /** Answers a request. An RpcError becomes the answer; any other throw is an internal error. */
  readonly onRequest: (request: IncomingRequest) => Verbatim | Promise<Verbatim>;
  readonly onNotification: (method: string, params: Verbatim | undefined) => void;
  /** Logs a bug: a callback that throws, unless onRequest throws an RpcError. Only that message is lost. */
  readonly onBug: (error: unknown) => void;
  /** Whether the other side may omit `jsonrpc`, as Codex does. */
  readonly mayOmitVersion?: boolean | undefined;
  /** An earlier peer on this connection used ids up to here: late answers to it aren't ours. */
  readonly lastId?: number | undefined;
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
  /** The same in bytes, if the result wasn't decoded. */
  readonly pieces?: readonly Buffer[];
}

/** How long requests that were cancelled at shutdown may take to answer. */
const LAST_ANSWERS_MS = 250;

/** A request from the other side that is being answered. */
interface Running extends IncomingRequest {
  readonly idText: string;
}

export class Peer {
  readonly #options: PeerOptions;
  readonly requests: Requests;
  readonly #running = new Underway<Running>();
  #closed: Error | undefined;
  /** Set while `finish` waits for the last answers; called when none is left. */
  #onIdle: (() => void) | undefined;

  constructor(options: PeerOptions) {
    this.#options = options;
    const { send, onBug, lastId } = options;
    const sendCancelled = (requestId: number, reason: string): void =>
      this.#notify(
        'notifications/cancelled',
        Verbatim.of({ requestId, reason }),
        undefined,
        requestId,
      );
    this.requests = new Requests({ send, sendCancelled, onBug, lastId });
  }

  request(method: string, params: Params, options: RequestOptions): Promise<Verbatim> {
    return this.requests.request(method, params, options);
  }

  notify(method: string, params?: Verbatim, about?: Id): void {
    this.#notify(method, params, about, undefined);
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
        this.requests.receiveAnswer(id, message, value['error']);
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
    this.requests.close(new RpcTimeout('The other side has closed its output.'), true);
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
    this.requests.close(error);
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
    if (answer?.pieces && this.#options.sendPieces) this.#sendPieces(answer.pieces, answer);
    else if (answer) this.#send(answer.text, answer);
  };

  #sendPieces(pieces: readonly Buffer[], message: Outgoing): void {
    if (this.#closed) return;
    guard(this.#options.onBug, () => this.#options.sendPieces?.(pieces, message))();
  }

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
      this.requests.receiveProgress(progressToken, params);
    } else {
      this.#options.onNotification(method, params);
    }
  }

  #cancelRunning(requestId: Id): void {
    const running = this.#running.all().findLast(({ id }) => id === requestId);
    running?.cancellation.cancel(new Error('The caller cancelled the request.'));
  }
}

/** A cancelled request has no answer, unless the reason is meant as one. */
function answerTo({ id, idText, cancellation: { reason } }: Running): Answer | undefined {
  return reason instanceof RpcError ? errorAnswer(id, idText, reason) : undefined;
}

function resultAnswer(about: Id, idText: string, result: Verbatim): Answer {
  const { pieces } = result;
  if (pieces) return new LargeAnswer(about, idText, result, pieces);
  const text = resultText(idText, result);
  return { kind: 'answer', about, result, error: undefined, text };
}

/** Its text is needed only if bytes can't be sent. */
class LargeAnswer implements Answer {
  readonly kind = 'answer';
  readonly error = undefined;
  readonly about: Id;
  readonly result: Verbatim;
  readonly pieces: readonly Buffer[];
  readonly #idText: string;

  constructor(about: Id, idText: string, result: Verbatim, pieces: readonly Buffer[]) {
    this.about = about;
    this.result = result;
    this.pieces = resultPieces(idText, pieces);
    this.#idText = idText;
  }

  get text(): string {
    return resultText(this.#idText, this.result);
  }
}

function errorAnswer(about: Id | undefined, idText: string, error: RpcError): Answer {
  const text = errorText(idText, error);
  return { kind: 'answer', about, result: undefined, error, text };
}

/** The id as it was written: a number may have more digits than JavaScript can hold. */
function textOfId(id: Id, message: Verbatim): string {
  if (typeof id === 'string') return JSON.stringify(id);
  return Number.isSafeInteger(id) ? String(id) : (message.member('id')?.text ?? 'null');
}
