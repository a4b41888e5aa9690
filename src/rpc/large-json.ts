// A large JSON text that is read while it arrives, and never decoded as a whole. What makes messages large is nearly
// always a few long strings: a picture, a file, a page. Their bytes are only checked. The rest, the outline, is small
// and parsed as usual, with a mark in place of each long string. So no step takes long, however large the message is,
// and a long string that is only forwarded is never decoded, copied or encoded.
import { isAscii, isUtf8 } from 'node:buffer';
import { ByteCollector, decode } from './bytes.ts';
import { parseJson } from './json-text.ts';
import { exceedsShape, type ShapeLimits } from './shape.ts';

/** Longer strings aren't part of the outline. */
const LONG_BYTES = 4096;
/** With a larger outline, a text is better parsed as a whole. */
const MOST_OUTLINE_BYTES = 256 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const SPACE = 0x20;
const HEX_DIGITS = 4;

/** What can follow a backslash, apart from `u`: "\/bfnrt */
const SIMPLE_ESCAPES = new Set(Buffer.from('"\\/bfnrt'));
/** Line breaks that must be escaped before such a text is sent (`one-line.ts`). */
const OTHER_BREAKS = ['\u0085', '\u2028', '\u2029'].map((text) => Buffer.from(text));

/** A long string: where its mark is in the outline, and where the string is in the whole text; without quotes. */
interface Cut {
  readonly mark: string;
  readonly outlineStart: number;
  readonly start: number;
  readonly end: number;
}

/** Follows a text piece by piece. It gives up on everything unusual, which is then read as any other text. */
export class LargeReader {
  readonly #outline = new ByteCollector();
  readonly #cuts: Cut[] = [];
  /** Nobody who writes a message can know it. */
  readonly #secret = process.getBuiltinModule('node:crypto').randomBytes(16).toString('hex');
  #bytes = 0;
  #hasGivenUp = false;
  /** Where the string that has begun starts, in the text and in the outline. */
  #string: { readonly start: number; readonly outlineStart: number } | undefined;
  /** Characters that are missing from an escape: a letter (-1), or so many hexadecimal digits. */
  #escape = 0;
  /** The first bytes of a character that the next piece completes. */
  #partial: Buffer = Buffer.alloc(0);

  push(piece: Buffer): void {
    if (this.#hasGivenUp) return;
    if (this.#partial.length > 0 || !isAscii(piece)) this.#checkCharacters(piece);
    const words = new Words(piece);
    let at = 0;
    while (at < piece.length && !this.#hasGivenUp) {
      at = this.#string ? this.#readString(words, at) : this.#readOutline(piece, at);
    }
    this.#bytes += piece.length;
  }

  /** Undefined if it has given up. `pieces` are all that were pushed, cut in any way. */
  finish(pieces: readonly Buffer[], limits: ShapeLimits): LargeJson | undefined {
    if (this.#hasGivenUp || this.#string || this.#partial.length > 0) return undefined;
    const bytes = this.#outline.take();
    if (exceedsShape(bytes, limits)) return undefined;
    const value = parseJson(decode(bytes));
    if (typeof value !== 'object' || value === null) return undefined;
    const outline = bytes.toString('latin1'); // one character per byte
    if (/[\r\n]/.test(outline.trimEnd())) return undefined;
    const found = new LargeJson({ pieces, outline, cuts: this.#cuts, value });
    return found.fillIn() ? found : undefined;
  }

  #readOutline(piece: Buffer, at: number): number {
    const quote = piece.indexOf(QUOTE, at);
    const end = quote === -1 ? piece.length : quote + 1;
    this.#keep(piece.subarray(at, end));
    if (quote !== -1) {
      this.#string = { start: this.#bytes + end, outlineStart: this.#outline.length };
    }
    return end;
  }

  #readString(words: Words, from: number): number {
    const { piece } = words;
    let at = from;
    while (at < piece.length) {
      const byte = piece[at] ?? 0;
      if (this.#escape !== 0) this.#readEscape(byte);
      else if (byte === QUOTE) {
        this.#endString(piece, from, at);
        return at + 1;
      } else if (byte === BACKSLASH) this.#escape = -1;
      else if (byte < SPACE) this.#hasGivenUp = true;
      else {
        at = words.findSpecial(at + 1);
        continue;
      }
      if (this.#hasGivenUp) return at;
      at += 1;
    }
    this.#keepString(piece.subarray(from));
    return at;
  }

  #readEscape(byte: number): void {
    if (this.#escape === -1) {
      if (byte === LETTER_U) this.#escape = HEX_DIGITS;
      else if (SIMPLE_ESCAPES.has(byte)) this.#escape = 0;
      else this.#hasGivenUp = true;
    } else if (isHexDigit(byte)) this.#escape -= 1;
    else this.#hasGivenUp = true;
  }

  #endString(piece: Buffer, from: number, quote: number): void {
    const string = this.#string;
    if (!string) return;
    this.#string = undefined;
    const end = this.#bytes + quote;
    if (end - string.start <= LONG_BYTES) return this.#keep(piece.subarray(from, quote + 1));
    const { start, outlineStart } = string;
    const mark = `${this.#secret} ${this.#cuts.length}`;
    this.#cuts.push({ mark, outlineStart, start, end });
    this.#outline.shorten(outlineStart);
    this.#keep(Buffer.from(`${mark}"`));
  }

  /** Part of a string that isn't complete: kept until it turns out to be long. */
  #keepString(part: Buffer): void {
    const kept = this.#outline.length - (this.#string?.outlineStart ?? 0);
    if (kept <= LONG_BYTES) this.#keep(part.subarray(0, LONG_BYTES + 1));
  }

  #keep(part: Buffer): void {
    this.#outline.append(part);
    if (this.#outline.length > MOST_OUTLINE_BYTES) this.#hasGivenUp = true;
  }

  /** A piece may end within a character. */
  #checkCharacters(piece: Buffer): void {
    let start = 0;
    if (this.#partial.length > 0) {
      start = lengthOfCharacter(this.#partial[0] ?? 0) - this.#partial.length;
      const whole = Buffer.concat([this.#partial, piece.subarray(0, start)]);
      if (piece.length < start) {
        this.#partial = whole;
        return;
      }
      this.#checkText(whole);
    }
    const end = piece.length - incompleteBytes(piece);
    if (end > start) this.#checkText(piece.subarray(start, end));
    this.#partial = Buffer.from(piece.subarray(Math.max(start, end)));
  }

  #checkText(text: Buffer): void {
    if (!isUtf8(text) || OTHER_BREAKS.some((bytes) => text.includes(bytes))) {
      this.#hasGivenUp = true;
    }
  }
}

/** Finds special bytes in a piece: control characters, quotes and backslashes. Looks at four bytes at a time. */
class Words {
  readonly piece: Buffer;
  /** Where its words begin. */
  readonly #offset: number;
  readonly #words: Int32Array;

  constructor(piece: Buffer) {
    this.piece = piece;
    this.#offset = (4 - (piece.byteOffset & 3)) & 3;
    const count = Math.max(0, piece.length - this.#offset) >> 2;
    this.#words =
      count === 0
        ? new Int32Array(0)
        : new Int32Array(piece.buffer, piece.byteOffset + this.#offset, count);
  }

  /** The first special byte from a position; the length if there is none. */
  findSpecial(from: number): number {
    const { piece } = this;
    const words = this.#words;
    let at = from;
    // Near ones are common in text with many escapes.
    const near = Math.min(piece.length, from + NEAR_BYTES + ((this.#offset - from) & 3));
    for (; at < near; at++) if (isSpecial(piece[at] ?? 0)) return at;
    let word = (at - this.#offset) >> 2;
    while (word < words.length && !hasSpecial(words[word] ?? 0)) word++;
    at = Math.max(at, this.#offset + 4 * word);
    while (at < piece.length && !isSpecial(piece[at] ?? 0)) at++;
    return at;
  }
}

const NEAR_BYTES = 16;

function isSpecial(byte: number): boolean {
  return byte < SPACE || byte === QUOTE || byte === BACKSLASH;
}

/** Whether one of four bytes may be special: finds all of them, and rarely another. */
function hasSpecial(word: number): boolean {
  const quote = word ^ 0x22222222;
  const backslash = word ^ 0x5c5c5c5c;
  const found =
    ((word - 0x20202020) & ~word) |
    ((quote - 0x01010101) & ~quote) |
    ((backslash - 0x01010101) & ~backslash);
  return (found & 0x80808080) !== 0;
}

function isHexDigit(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
}

/** By its first byte. */
function lengthOfCharacter(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}

/** How many bytes at the end begin a character that isn't complete. */
function incompleteBytes(piece: Buffer): number {
  for (let count = 1; count <= Math.min(3, piece.length); count++) {
    const byte = piece[piece.length - count] ?? 0;
    const isFirst = (byte & 0xc0) !== 0x80;
    if (isFirst) return lengthOfCharacter(byte) > count ? count : 0;
  }
  return 0;
}

interface LargeParts {
  readonly pieces: readonly Buffer[];
  readonly outline: string;
  readonly cuts: readonly Cut[];
  readonly value: object;
}

export class LargeJson {
  readonly pieces: readonly Buffer[];
  readonly value: object;
  /** The text with a mark in place of each long string, and one character for each byte. */
  readonly outline: string;
  readonly #cuts: readonly Cut[];

  constructor({ pieces, outline, cuts, value }: LargeParts) {
    this.pieces = pieces;
    this.outline = outline;
    this.value = value;
    this.#cuts = cuts;
  }

  /** Replaces the marks in the value. False if that's impossible, for example because a key is long. */
  fillIn(): boolean {
    const cuts = new Map(this.#cuts.map((cut) => [cut.mark, cut]));
    const holders: object[] = [this.value];
    for (let holder = holders.pop(); holder; holder = holders.pop()) {
      for (const [key, value] of Object.entries(holder)) {
        if (typeof value === 'object' && value !== null) holders.push(value as object);
        const cut = typeof value === 'string' ? cuts.get(value) : undefined;
        if (!cut) continue;
        cuts.delete(cut.mark);
        defineLater(holder, key, () => this.#readString(cut));
      }
    }
    return cuts.size === 0;
  }

  /** The bytes between two positions of the outline, neither of which is within a mark. */
  slice(start: number, end: number): Buffer[] {
    return slicePieces(this.pieces, this.#position(start), this.#position(end));
  }

  #position(inOutline: number): number {
    const cut = this.#cuts.findLast(({ outlineStart }) => outlineStart < inOutline);
    return cut ? cut.end + inOutline - cut.outlineStart - cut.mark.length : inOutline;
  }

  #readString({ start, end }: Cut): string {
    const quoted = Buffer.concat(slicePieces(this.pieces, start - 1, end + 1));
    return JSON.parse(decode(quoted)) as string;
  }
}

/** A member that is computed when it's first read. */
function defineLater(holder: object, key: string, read: () => string): void {
  const define = (value: unknown): void =>
    void Object.defineProperty(holder, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  Object.defineProperty(holder, key, {
    get: () => {
      const value = read();
      define(value);
      return value;
    },
    set: define,
    enumerable: true,
    configurable: true,
  });
}

/** The pieces between two offsets. */
function slicePieces(pieces: readonly Buffer[], start: number, end: number): Buffer[] {
  const found: Buffer[] = [];
  let offset = 0;
  for (const piece of pieces) {
    const from = Math.max(0, start - offset);
    const to = Math.min(piece.length, end - offset);
    if (from < to) found.push(piece.subarray(from, to));
    offset += piece.length;
  }
  return found;
}
