// A stream of events, of which each carries the text of one message.
import type { Readable } from 'node:stream';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { BrokenOff, Oversize, readBody } from './body.ts';

export interface ServerEvent {
  /** `message` where the server does not say. */
  readonly type: string;
  readonly id: string | undefined;
  readonly data: string;
}

export interface EventHandlers {
  readonly onEvent: (event: ServerEvent) => void;
  /** How long the server wants us to wait before we connect again. */
  readonly onRetry?: (ms: number) => void;
}

/** The name of a field before its value, which the parser counts too. */
const FIELD_NAME_CHARS = 16;

/** Cuts a stream of bytes into events. */
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

  /** Throws Oversize when an event is larger than the limit. */
  push(piece: Buffer): void {
    this.#feed(this.#decoder.decode(piece, { stream: true }));
  }

  /** The stream is over: an event that lacks only the empty line behind it still counts. */
  end(): void {
    this.#feed(`${this.#decoder.decode()}\n\n`);
  }

  #feed(text: string): void {
    this.#parser.feed(this.#unifyLineEnds(text));
    if (this.#isTooLarge) throw new Oversize('An event is too large.');
  }

  /**
   * Lines may end in CR LF, LF or CR. The parser cannot tell whether an LF still follows a CR at the
   * end of what has come, and would keep the event back until then; and many lone CRs are slow.
   */
  #unifyLineEnds(text: string): string {
    if (text === '') return text;
    const rest = this.#endedInReturn && text.startsWith('\n') ? text.slice(1) : text;
    this.#endedInReturn = text.endsWith('\r');
    return rest.includes('\r') ? rest.replace(/\r\n?/g, '\n') : rest;
  }
}

/** Reads a stream to its end, whichever way that comes. Throws Oversize, and what a handler throws. */
export async function readEvents(
  body: Readable,
  limitBytes: number,
  handlers: EventHandlers,
): Promise<'ended' | 'broke'> {
  const reader = new EventReader(limitBytes, handlers);
  try {
    await readBody(body, (piece) => reader.push(piece));
    reader.end();
    return 'ended';
  } catch (error) {
    if (error instanceof BrokenOff) return 'broke';
    throw error;
  }
}
