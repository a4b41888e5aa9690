// A session's recent events. A host whose connection broke asks for those after the last one it received. Limited in
// number, size and age.

interface StoredEvent {
  readonly stream: number;
  readonly number: number;
  readonly json: string;
  readonly bytes: number;
  /** When it was added (`performance.now()`). */
  readonly at: number;
}

/** An event's stream, and its number in the session. */
export interface EventPlace {
  readonly stream: number;
  readonly number: number;
}

const MOST_EVENTS = 1_000;
const MOST_BYTES = 4 << 20;
const LONGEST_MS = 5 * 60_000;

export class EventStore {
  #events: StoredEvent[] = [];
  #bytes = 0;
  #last = 0;

  /** Adds an event; returns its number. */
  add(stream: number, json: string): number {
    const event = { stream, number: ++this.#last, json, bytes: Buffer.byteLength(json), at: now() };
    this.#events.push(event);
    this.#bytes += event.bytes;
    this.prune();
    return event.number;
  }

  /** A number for an event without a message. */
  takeNumber(): number {
    return ++this.#last;
  }

  /** The stored events of a stream after this one, in order. */
  after({ stream, number }: EventPlace): readonly StoredEvent[] {
    return this.#events.filter((event) => event.stream === stream && event.number > number);
  }

  /** Drops what is too old or too much. */
  prune(): void {
    const oldest = now() - LONGEST_MS;
    let gone = 0;
    for (const { at, bytes } of this.#events) {
      const left = this.#events.length - gone;
      if (left <= MOST_EVENTS && this.#bytes <= MOST_BYTES && at >= oldest) break;
      this.#bytes -= bytes;
      gone++;
    }
    if (gone > 0) this.#events = this.#events.slice(gone);
  }
}

export function formatEventId({ stream, number }: EventPlace): string {
  return `${stream}-${number}`;
}

export function parseEventId(text: string): EventPlace | undefined {
  const parts = /^(\d{1,15})-(\d{1,15})$/.exec(text);
  return parts ? { stream: Number(parts[1]), number: Number(parts[2]) } : undefined;
}

function now(): number {
  return performance.now();
}
