// Turns a stream of bytes into messages. The framing is detected for each message: a header line announces a body
// of a given length; any other line is read as a line (`line.ts`) and may start a message of several lines
// (`block.ts`).
//
// Peers print other text, cut messages short, and write more than we want to hold. Even so, we never lose a
// complete message, take more than linear time, or use memory beyond the limit.
import type { Block } from './block.ts';
import { decode, isBlank, PieceList, trimBytes } from './bytes.ts';
import {
  type FramerEvents,
  type Framing,
  formatExcerpt,
  type MessageEvent,
  type ReadLimits,
} from './framing.ts';
import { findGluedHeader, Header, type HeaderNames } from './header.ts';
import { parseJson } from './json-text.ts';
import { type LargeJson, LargeReader } from './large-json.ts';
import { LineReader } from './line.ts';
import { OversizeDrain, oversizeEvent } from './oversize.ts';
import { findExceeded, TooComplex } from './shape.ts';

export interface FramerOptions extends FramerEvents, ReadLimits {
  readonly headers: HeaderNames;
  /** Takes a large message that was read while it arrived, and wasn't decoded. Only for objects on a single line. */
  readonly onLarge?: ((json: LargeJson) => void) | undefined;
}

/** The body that a header announced. */
interface Body {
  readonly header: Header;
  left: number;
  /** False until its first non-blank byte proves that it is a body. */
  begun: boolean;
}

/** From this size, a line is read while it arrives. */
const LARGE_BYTES = 512 * 1024;

const LINE_FEED = 0x0a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

export class Framer {
  readonly #options: FramerOptions;
  readonly #lines: LineReader;
  /** The part of an incomplete line or body that has arrived. */
  readonly #pending = new PieceList();
  /** Reads a large line along with `#pending`. */
  #large: LargeReader | undefined;
  #header: Header | undefined;
  #body: Body | undefined;
  #block: Block | undefined;
  #drain: OversizeDrain | undefined;
  #ended = false;
  #pushedBytes = 0;
  #settledBytes = 0;

  constructor(options: FramerOptions) {
    this.#options = options;
    const onMessage = (message: MessageEvent): void => this.#deliver(message);
    this.#lines = new LineReader(options, { ...options, onMessage });
  }

  push(chunk: Buffer): void {
    if (this.#ended) return;
    let at = 0;
    while (at < chunk.length) {
      at = this.#body ? this.#takeBody(this.#body, chunk, at) : this.#takeLine(chunk, at);
      if (!this.#isWithin) this.#settledBytes = this.#pushedBytes + Math.min(at, chunk.length);
    }
    this.#pushedBytes += chunk.length;
  }

  /** How many of the pushed bytes need no further input: the rest may begin a message. */
  get settledBytes(): number {
    return this.#settledBytes;
  }

  /** Whether a message may have begun. One that is being dropped doesn't count. */
  get #isWithin(): boolean {
    if (this.#drain) return false;
    if (this.#body || this.#header || this.#pending.length > 0) return true;
    return this.#block?.isOpen === true;
  }

  /** The stream has ended: reads the rest as if a line break followed. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#drain) this.#drain.finish();
    else if (this.#body?.begun) this.#readBody(this.#pending.take());
    else if (this.#body) this.#body.header.reportDropped(this.#options.headers, this.#options);
    else if (this.#large) this.#endLarge(this.#large);
    else if (this.#pending.length > 0) this.#readLine(this.#pending.take());
    this.#dropHeader();
    if (this.#block?.isOpen) this.#block.end();
  }

  #takeLine(chunk: Buffer, at: number): number {
    const lineFeed = chunk.indexOf(LINE_FEED, at);
    const end = lineFeed === -1 ? chunk.length : lineFeed;
    const piece = chunk.subarray(at, end);
    if (this.#pending.length + piece.length > this.#options.limitBytes) {
      this.#drain ??= this.#createLineDrain();
    }
    if (this.#drain) this.#drainPiece(this.#drain, piece, lineFeed !== -1);
    else if (this.#large) this.#takeLarge(this.#large, piece, lineFeed !== -1);
    else if (lineFeed === -1) this.#appendLine(piece);
    else this.#readLine(this.#withPending(piece));
    return end + 1;
  }

  #appendLine(piece: Buffer): void {
    const wasLarge = this.#pending.length >= LARGE_BYTES;
    this.#pending.append(piece);
    if (wasLarge || this.#pending.length < LARGE_BYTES || !this.#options.onLarge) return;
    const { pieces } = this.#pending;
    const isFresh = !this.#header && !this.#block?.isOpen;
    if (!isFresh || pieces[0]?.[0] !== OPEN_BRACE) return;
    this.#large = new LargeReader();
    for (const one of pieces) this.#large.push(one);
  }

  #takeLarge(large: LargeReader, piece: Buffer, isLast: boolean): void {
    this.#pending.appendCopy(piece);
    large.push(piece);
    if (isLast) this.#endLarge(large);
  }

  #endLarge(large: LargeReader): void {
    this.#large = undefined;
    const pieces = this.#pending.takePieces();
    const json = large.finish(pieces, this.#options.shape);
    if (json) this.#options.onLarge?.(json);
    else this.#readLine(Buffer.concat(pieces));
  }

  #takeBody(body: Body, chunk: Buffer, at: number): number {
    const piece = chunk.subarray(at, at + body.left);
    if (!body.begun) {
      const blanks = countBlanks(piece);
      const first = piece[blanks];
      body.begun = first === OPEN_BRACE || first === OPEN_BRACKET;
      if (!body.begun) {
        body.left -= blanks;
        if (first !== undefined || body.left === 0) this.#refuseBody(body.header);
        return at + blanks;
      }
    }
    body.left -= piece.length;
    const isLast = body.left === 0;
    if (isLast) this.#body = undefined;
    if (this.#drain) this.#drainPiece(this.#drain, piece, isLast);
    else if (isLast) this.#readBody(this.#withPending(piece));
    else this.#pending.append(piece);
    return at + piece.length;
  }

  /** The whole line or body that this piece completes; one that fits in a chunk isn't copied. */
  #withPending(last: Buffer): Buffer {
    if (this.#pending.length === 0) return last;
    this.#pending.append(last);
    return this.#pending.take();
  }

  #readLine(line: Buffer): void {
    if (this.#header) {
      const kind = this.#header.add(line);
      if (kind === 'end') this.#endHeader(this.#header);
      if (kind !== 'foreign') return;
      this.#dropHeader();
    }
    const unread = this.#block?.isOpen ? this.#block.add(line) : line;
    if (!unread) return;
    this.#header = Header.begin(unread, this.#options.headers);
    if (this.#header) return;
    const glued = findGluedHeader(unread);
    const before = glued === undefined ? unread : unread.subarray(0, glued);
    this.#block = unread === line ? this.#lines.read(before) : this.#lines.readRest(before);
    if (glued === undefined) return;
    this.#block?.end();
    this.#header = Header.begin(unread.subarray(glued), this.#options.headers);
  }

  #endHeader(header: Header): void {
    this.#header = undefined;
    if (header.length === undefined) {
      header.reportMissingLength(this.#options);
      return;
    }
    // From a server it may still be a log line that looks like a header.
    const begun = this.#options.headers === 'any';
    if (header.length === 0) {
      if (begun) this.#readBody(Buffer.alloc(0));
      else this.#refuseBody(header);
      return;
    }
    this.#body = { header, left: header.length, begun };
    if (header.length > this.#options.limitBytes) this.#drain = this.#createDrain('content-length');
  }

  #dropHeader(): void {
    this.#header?.reportDropped(this.#options.headers, this.#options);
    this.#header = undefined;
  }

  /** No message follows the header, so both are read as plain lines. */
  #refuseBody(header: Header): void {
    header.reportDropped(this.#options.headers, this.#options);
    this.#body = undefined;
    this.#drain = undefined;
  }

  #readBody(bytes: Buffer): void {
    const framing = 'content-length';
    const body = trimBytes(bytes);
    const exceeded = findExceeded(body, this.#options.shape);
    if (exceeded) return this.#options.onOversize(oversizeEvent(exceeded, framing));
    const text = decode(body);
    const value = parseJson(text);
    if (typeof value === 'object' && value !== null) {
      return this.#options.onMessage({ text, value, framing });
    }
    const reason = value === undefined ? 'invalid-json' : 'not-an-object';
    this.#options.onBroken({ reason, framing, excerpt: formatExcerpt(text) });
  }

  #deliver(message: MessageEvent): void {
    const { value, framing } = message;
    if (value instanceof TooComplex) this.#options.onOversize(oversizeEvent(value, framing));
    else this.#options.onMessage(message);
  }

  #createLineDrain(): OversizeDrain {
    this.#dropHeader();
    this.#large = undefined;
    const drain = this.#block?.isOpen ? this.#block.endInOversize() : this.#createDrain('newline');
    drain.feed(this.#pending.take());
    return drain;
  }

  #createDrain(framing: Framing): OversizeDrain {
    const { limitBytes, onOversize } = this.#options;
    return new OversizeDrain({ limitBytes, framing, onOversize });
  }

  #drainPiece(drain: OversizeDrain, piece: Buffer, isLast: boolean): void {
    drain.feed(piece);
    if (!isLast) return;
    this.#drain = undefined;
    drain.finish();
  }
}

/** Counts blanks before a body. Byte order mark bytes count one by one, since a chunk may split it. */
function countBlanks(bytes: Buffer): number {
  const end = bytes.findIndex(
    (byte) => !isBlank(byte) && byte !== 0xef && byte !== 0xbb && byte !== 0xbf,
  );
  return end === -1 ? bytes.length : end;
}
