// Collects bytes that arrive in pieces, trims them, and decodes them.
import { isAscii, isUtf8, transcode } from 'node:buffer';

const KEPT_CAPACITY = 64 * 1024;
const FIRST_CAPACITY = 256;
const EMPTY = Buffer.alloc(0);

/**
 * Collects pieces into its own buffer. The buffer doubles when full, so each byte is copied a constant number of
 * times however small the pieces are, and no piece keeps the much larger chunk it was cut from alive.
 */
export class ByteCollector {
  #buffer = EMPTY;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(piece: Buffer): void {
    this.#reserve(piece.length);
    piece.copy(this.#buffer, this.#length);
    this.#length += piece.length;
  }

  appendText(text: string): void {
    this.#reserve(Buffer.byteLength(text));
    this.#length += this.#buffer.write(text, this.#length);
  }

  /** Drops everything behind this many bytes. */
  shorten(length: number): void {
    this.#length = length;
  }

  textBetween(start: number, end: number): string {
    return this.#buffer.toString('utf8', start, Math.min(end, this.#length));
  }

  /** Everything collected so far. The next append may overwrite it. */
  get view(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Everything collected. The next append may overwrite it, so it must be used at once. */
  take(): Buffer {
    const taken = this.view;
    this.#length = 0;
    if (this.#buffer.length > KEPT_CAPACITY) this.#buffer = EMPTY;
    return taken;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const capacity = Math.max(needed, this.#buffer.length * 2, FIRST_CAPACITY);
    const larger = Buffer.allocUnsafe(capacity);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/** Pieces of at least this size are kept as they are; smaller ones are copied together. */
const WHOLE_PIECE_BYTES = 16 * 1024;
const BLOCK_BYTES = 1 << 20;

/**
 * Collects the pieces of one message and joins them once, at the end: a large message is copied only once, and its
 * buffer never has to grow.
 */
export class PieceList {
  readonly #small = new ByteCollector();
  #pieces: Buffer[] = [];
  #block = EMPTY;
  #blockLength = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(piece: Buffer): void {
    this.#length += piece.length;
    if (piece.length < WHOLE_PIECE_BYTES) {
      this.#small.append(piece);
      if (this.#small.length > KEPT_CAPACITY) this.#closeSmall();
    } else {
      this.#closeSmall();
      this.#pieces.push(piece);
    }
  }

  /**
   * Like `append`, for a message that isn't joined but stays in memory for a while: copies the piece into a large
   * block. The allocator returns those to the system, but hardly ever many small ones.
   */
  appendCopy(piece: Buffer): void {
    this.#length += piece.length;
    this.#closeSmall();
    for (let from = 0; from < piece.length; ) {
      if (this.#blockLength === this.#block.length) {
        this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
        this.#blockLength = 0;
      }
      const copied = piece.copy(this.#block, this.#blockLength, from);
      if (this.#blockLength > 0) this.#pieces.pop();
      this.#blockLength += copied;
      this.#pieces.push(this.#block.subarray(0, this.#blockLength));
      from += copied;
    }
  }

  /** Everything collected, as it is kept now. */
  get pieces(): readonly Buffer[] {
    return this.#small.length > 0 ? [...this.#pieces, this.#small.view] : this.#pieces;
  }

  /** The pieces, which nothing will overwrite. */
  takePieces(): Buffer[] {
    this.#closeSmall();
    const pieces = this.#pieces;
    this.#clear();
    return pieces;
  }

  /** Everything collected. The next append may overwrite it, so it must be used at once. */
  take(): Buffer {
    if (this.#pieces.length === 0) {
      this.#length = 0;
      return this.#small.take();
    }
    this.#closeSmall();
    const joined = Buffer.concat(this.#pieces, this.#length);
    this.#clear();
    return joined;
  }

  #clear(): void {
    this.#pieces = [];
    this.#length = 0;
    this.#block = EMPTY;
    this.#blockLength = 0;
  }

  #closeSmall(): void {
    if (this.#small.length > 0) this.#pieces.push(Buffer.from(this.#small.take()));
  }
}

/** Whether the byte can be ignored around a message: space, tab, line break, NUL. */
export function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0d || byte === 0x09 || byte === 0x0a || byte === 0x00;
}

/** The bytes without surrounding blanks and without a byte order mark. */
export function trimBytes(bytes: Buffer): Buffer {
  let start = 0;
  let end = bytes.length;
  while (start < end) {
    if (isBlank(bytes[start])) start += 1;
    else if (isByteOrderMark(bytes, start)) start += 3;
    else break;
  }
  while (end > start && isBlank(bytes[end - 1])) end -= 1;
  return start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
}

function isByteOrderMark(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
}

/** Up to this size, decoding is fast either way. */
const WORTH_A_LOOK_BYTES = 4096;

/**
 * Decodes UTF-8. For large inputs this is many times faster than Node's decoder: ASCII, which most large results
 * are, needs no decoding; other text is converted to the narrower of V8's two string representations first.
 */
export function decode(bytes: Buffer): string {
  if (bytes.length <= WORTH_A_LOOK_BYTES) return bytes.toString('utf8');
  if (isAscii(bytes)) return bytes.toString('latin1');
  if (!isUtf8(bytes)) return bytes.toString('utf8'); // inserts replacement characters
  const form = isNarrow(bytes) ? 'latin1' : 'utf16le';
  return transcode(bytes, 'utf8', form).toString(form);
}

const FIRST_BEYOND_LATIN1 = 0xc4;

/** Whether valid UTF-8 contains only Latin-1 characters. */
function isNarrow(utf8: Buffer): boolean {
  for (let at = 0; at < utf8.length; at++) {
    if ((utf8[at] ?? 0) >= FIRST_BEYOND_LATIN1) return false;
  }
  return true;
}
