// Parses server-sent events. Each one carries a message.
import type { Readable } from 'node:stream';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { BrokenOff, Oversize, readPieces } from '../../net/body.ts';

export interface ServerEvent {
  /** `message` by default. */
  readonly type: string;
  readonly id: string | undefined;
  readonly data: string;
}

export interface EventHandlers {
  readonly onEvent: (event: ServerEvent) => void;
  /** The server sets how long to wait before reconnecting. */
  readonly onRetry?: (ms: number) => void;
}

/** The parser's limit includes the field name. */
const FIELD_NAME_CHARS = 16;

/** Splits a stream of bytes into events. */
export class EventReader {
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  #isTooLarge = false;
  #endedInReturn = false;

  constructor(limitBytes: number, { onEvent, onRetry }: EventHandlers) {
    this.#parser = createParser({
      maxBufferSize: limitBytes + FIELD_NAME_CHARS,
      onEvent: ({ event = 'message', id, data }) => {
        if (data.length * 3 > limitBytes && Buffer.byteLength(data) > limitBytes) {
          this.#isTooLarge = true;
        } else if (!this.#isTooLarge) onEvent({ type: event, id, data });
      },
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') this.#isTooLarge = true;
      },
      ...(onRetry && { onRetry }),
    });
  }

  /** Throws Oversize if an event exceeds the limit. */
  push(piece: Buffer): void {
    this.#feed(this.#decoder.decode(piece, { stream: true }));
  }

  /** Call at the end of the stream: accepts a last event without the empty line after it. */
  end(): void {
    this.#feed(`${this.#decoder.decode()}\n\n`);
  }

  #feed(text: string): void {
    this.#parser.feed(this.#unifyLineEnds(text));
    if (this.#isTooLarge) throw new Oversize('An event is too large.');
  }

  /**
   * Lines may end in CR LF, LF or CR. After a CR the parser would hold back the event until it knows
   * that no LF follows, and it is slow with many lone CRs.
   */
  #unifyLineEnds(text: string): string {
    if (text === '') return text;
    const rest = this.#endedInReturn && text.startsWith('\n') ? text.slice(1) : text;
    this.#endedInReturn = text.endsWith('\r');
    return rest.includes('\r') ? rest.replace(/\r\n?/g, '\n') : rest;
  }
}

/** Reads a stream until it ends or breaks. Rejects with Oversize or what a handler throws. */
export async function readEvents(
  body: Readable,
  limitBytes: number,
  handlers: EventHandlers,
): Promise<'ended' | 'broke'> {
  const reader = new EventReader(limitBytes, handlers);
  try {
    await readPieces(body, (piece) => reader.push(piece));
    reader.end();
    return 'ended';
  } catch (error) {
    if (error instanceof BrokenOff) return 'broke';
    throw error;
  }
}
