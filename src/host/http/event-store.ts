// Events of a session's streams, kept for a while: a host whose connection broke asks for what came
// after the last one it has got. Bounded in number, size and time.

interface StoredEvent {
  readonly stream: number;
  readonly number: number;
  readonly json: string;
  readonly bytes: number;
  /** When it came, on the clock of `performance`. */
  readonly at: number;
}

/** Which stream an event belongs to, and its number in the session. */
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

  /** Numbers an event; gives the number. */
  add(stream: number, json: string): number {
    const event = { stream, number: ++this.#last, json, bytes: Buffer.byteLength(json), at: now() };
    this.#events.push(event);
    this.#bytes += event.bytes;
    this.prune();
    return event.number;
  }

  /** A number for an event that holds nothing. */
  takeNumber(): number {
    return ++this.#last;
  }

  /** What is left of a stream's events behind one of them, in order. */
  after({ stream, number }: EventPlace): readonly StoredEvent[] {
    return this.#events.filter((event) => event.stream === stream && event.number > number);
  }

  /** Forgets what is too old or too much. */
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
