// One POST of a handshake session, from its requests to their answers. It outlives its connection: calls continue,
// and a client can resume the stream where it broke.
import { errorText, type Id, RpcError } from '../../rpc/message.ts';
import { type EventPlace, type EventStore, formatEventId } from './event-store.ts';
import type { EventStream } from './event-stream.ts';
import type { HttpRefusal } from './refusal.ts';
import type { PostReply } from './reply.ts';

export interface PostExchangeOptions {
  /** The requests it waits for. */
  readonly ids: readonly Id[];
  readonly isBatch: boolean;
  readonly stream: number;
  readonly store: EventStore;
  /** Whether the host understands events without a message. */
  readonly canPrime: boolean;
  readonly openReply: (onSlow: () => void) => PostReply;
  /** Every request was answered or cancelled. */
  readonly onDone: () => void;
}

export class PostExchange {
  readonly stream: number;
  readonly #options: PostExchangeOptions;
  readonly #waiting: Set<Id>;
  readonly #reply: PostReply;
  /** Answers that can still be sent as plain JSON. */
  #answers: string[] = [];
  #isStream = false;
  #events: EventStream | undefined;

  constructor(options: PostExchangeOptions) {
    this.#options = options;
    this.stream = options.stream;
    this.#waiting = new Set(options.ids);
    this.#reply = options.openReply(() => this.#becomeStream());
  }

  get ids(): readonly Id[] {
    return this.#options.ids;
  }

  /** A message about its requests that isn't an answer. */
  send(json: string): void {
    this.#becomeStream();
    this.#emit(json);
  }

  answer(id: Id, json: string): void {
    if (!this.#waiting.delete(id)) return; // already answered
    if (this.#isStream) this.#emit(json);
    else this.#answers.push(json);
    this.#endIfDone();
  }

  /** The host has cancelled the request: there will be no answer. */
  cancel(id: Id): void {
    if (this.#waiting.delete(id)) this.#endIfDone();
  }

  /** A new connection replaces the one that broke. */
  resume(events: EventStream, from: EventPlace): void {
    this.#events?.end();
    this.#events = events;
    for (const { stream, number, json } of this.#options.store.after(from)) {
      events.send(json, formatEventId({ stream, number }));
    }
  }

  /** Ends it early. Open requests get an error: a client would wait for a stream that simply ended. */
  breakOff(reason: HttpRefusal): void {
    if (this.#isStream) {
      const error = new RpcError(reason.code, reason.message);
      for (const id of this.#waiting) this.#emit(errorText(JSON.stringify(id), error));
    }
    this.#reply.breakOff(reason);
    this.#events?.end();
  }

  #becomeStream(): void {
    if (this.#isStream) return;
    this.#isStream = true;
    this.#events = this.#reply.stream();
    const { store, stream, canPrime } = this.#options;
    if (canPrime) this.#events?.prime(formatEventId({ stream, number: store.takeNumber() }));
    for (const json of this.#answers.splice(0)) this.#emit(json);
  }

  #emit(json: string): void {
    const { store, stream } = this.#options;
    const number = store.add(stream, json);
    this.#events?.send(json, formatEventId({ stream, number }));
  }

  #endIfDone(): void {
    if (this.#waiting.size > 0) return;
    const [only] = this.#answers;
    if (this.#isStream) this.#events?.end();
    else if (only === undefined) this.#reply.end();
    else this.#reply.json(this.#options.isBatch ? `[${this.#answers.join(',')}]` : only);
    this.#options.onDone();
  }
}
