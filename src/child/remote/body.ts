// Bodies of replies become texts of messages here: a JSON body is one, a stream of events has one in
// each event. Whatever the server sends, no more than the limit is kept.
import type { Readable } from 'node:stream';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { decode, PieceList, trimBytes } from '../../rpc/bytes.ts';

/** What was to be one message is larger than the limit. */
export class Oversize extends Error {
  override readonly name = 'Oversize';
}

/** The body did not come to its end, or could not be unpacked. */
export class BrokenOff extends Error {
  override readonly name = 'BrokenOff';
}

/**
 * Reads a body to its end. Rejects with BrokenOff where that does not come; a throw of `take` is
 * passed on, and ends the reading and the connection.
 */
export function readBody(body: Readable, take: (piece: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      reject(error);
      body.off('data', read).destroy();
    };
    const read = (piece: Buffer): void => {
      try {
        take(piece);
      } catch (error) {
        fail(error as Error);
      }
    };
    body.on('data', read);
    body.once('end', resolve);
    body.once('error', (cause) => fail(new BrokenOff('The reply broke off.', { cause })));
    body.once('close', () => {
      if (!body.readableEnded) fail(new BrokenOff('The reply broke off.'));
    });
  });
}

/** The whole body as one text. */
export async function readText(body: Readable, limitBytes: number): Promise<string> {
  const pieces = new PieceList();
  await readBody(body, (piece) => {
    if (pieces.length + piece.length > limitBytes) throw new Oversize('The body is too large.');
    pieces.append(piece);
  });
  return decode(trimBytes(pieces.take()));
}

/** The beginning of a body that is only to be quoted: so many bytes, or what comes in time. */
export async function readBeginning(
  body: Readable,
  limitBytes: number,
  limitMs: number,
): Promise<string> {
  const pieces = new PieceList();
  const timer = setTimeout(() => body.destroy(), limitMs);
  try {
    await readBody(body, (piece) => {
      pieces.append(piece.subarray(0, limitBytes - pieces.length));
      if (pieces.length >= limitBytes) throw new Oversize('That is enough.');
    });
  } catch {
    // what has come is what there is to quote
  } finally {
    clearTimeout(timer);
  }
  return decode(trimBytes(pieces.take()));
}

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

/** The bodies that are being read, which can all be made to wait. */
export class OpenBodies {
  readonly #bodies = new Set<Readable>();
  #isPaused = false;

  add(body: Readable): void {
    this.#bodies.add(body);
    body.once('close', () => this.#bodies.delete(body));
    if (this.#isPaused) body.pause();
  }

  pause(): void {
    this.#isPaused = true;
    for (const body of this.#bodies) body.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const body of this.#bodies) body.resume();
  }
}
