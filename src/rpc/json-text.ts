// Finds where a JSON value ends, and whether a value is a message. Unlike JSON.parse, this scanner can say where
// the text after a value begins and whether incomplete text could still become valid, and it can pause at the
// end of a line.
import { findExceeded, type ShapeLimits, SMALL_BYTES, TooComplex } from './shape.ts';

/** Deeper than any real message; bounds the scanner's memory. */
const DEEPEST = 10_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const SCALAR = /(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;

/** `invalid`: nothing that follows can make it JSON. */
export type ScanOutcome = 'closed' | 'open' | 'invalid';

/** Follows the grammar of one JSON object or array through text that arrives line by line. */
export class JsonScanner {
  readonly #closers: number[] = [];
  #expects: 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' = 'value';
  #at = 0;

  /** The index where the last scan stopped. */
  get at(): number {
    return this.#at;
  }

  get depth(): number {
    return this.#closers.length;
  }

  /**
   * Scans from a position until the depth is back at `floor` (`closed`) or the text ends (`open`). As in JSON,
   * a line break inside a string is `invalid`.
   */
  scan(text: string, from: number, floor = 0): ScanOutcome {
    this.#at = from;
    while (this.#at < text.length) {
      const code = text.charCodeAt(this.#at);
      if (isWhitespace(code)) {
        this.#at += 1;
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        if (!this.#close(code)) return 'invalid';
        if (this.#closers.length === floor) return 'closed';
      } else if (!this.#accept(text, code)) {
        return 'invalid';
      }
    }
    return 'open';
  }

  #close(code: number): boolean {
    const mayEnd = this.#expects.endsWith('or-end');
    if (!mayEnd || this.#closers.pop() !== code) return false;
    this.#expects = 'comma-or-end';
    this.#at += 1;
    return true;
  }

  #accept(text: string, code: number): boolean {
    if (code === COMMA) {
      if (this.#expects !== 'comma-or-end') return false;
      this.#expects = this.#closers.at(-1) === CLOSE_BRACE ? 'key' : 'value';
      this.#at += 1;
      return true;
    }
    if (code === COLON) {
      if (this.#expects !== 'colon') return false;
      this.#expects = 'value';
      this.#at += 1;
      return true;
    }
    if (this.#expects === 'key' || this.#expects === 'key-or-end') {
      if (code !== QUOTE) return false;
      this.#expects = 'colon';
      return this.#skipString(text);
    }
    if (this.#expects !== 'value' && this.#expects !== 'value-or-end') return false;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) return this.#open(code);
    this.#expects = 'comma-or-end';
    return code === QUOTE ? this.#skipString(text) : this.#skipScalar(text);
  }

  #open(code: number): boolean {
    if (this.#closers.length >= DEEPEST) return false;
    this.#closers.push(code === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET);
    this.#expects = code === OPEN_BRACE ? 'key-or-end' : 'value-or-end';
    this.#at += 1;
    return true;
  }

  #skipString(text: string): boolean {
    let quote = text.indexOf('"', this.#at + 1);
    while (quote !== -1 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
    this.#at = quote === -1 ? text.length : quote + 1;
    return quote !== -1;
  }

  #skipScalar(text: string): boolean {
    SCALAR.lastIndex = this.#at;
    if (!SCALAR.test(text)) return false;
    this.#at = SCALAR.lastIndex;
    return true;
  }
}

function isWhitespace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}

function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (quote - before) % 2 === 0;
}

/** The parsed value, or undefined (never a JSON value) for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // callers expect text that isn't JSON
  }
}

/** Like `parseJson`, for untrusted text: TooComplex if it exceeds a limit. */
export function parseWithin(text: string, limits: ShapeLimits): unknown {
  if (text.length <= SMALL_BYTES) return parseJson(text);
  return findExceeded(Buffer.from(text), limits) ?? parseJson(text);
}

/**
 * `marked`: it has a "jsonrpc" member, which is required if there's other text around it. `likely`: it at least has
 * members that only messages combine.
 */
export type Likeness = 'marked' | 'likely';

/** Whether the value is a message or a batch of messages. */
export function isMessage(value: unknown, likeness: Likeness): boolean {
  if (Array.isArray(value)) {
    return value.length > 0 && value.every((item) => isOneMessage(item, likeness));
  }
  return isOneMessage(value, likeness);
}

function isOneMessage(value: unknown, likeness: Likeness): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof TooComplex) return value.isMarked;
  if ('jsonrpc' in value) return true;
  if (likeness === 'marked') return false;
  return 'method' in value || ('id' in value && ('result' in value || 'error' in value));
}

const TERMINAL_SEQUENCE_OR_NUL =
  // oxlint-disable-next-line no-control-regex -- finding them is the point
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])|\u0000/g;

/**
 * Removes colors, NULs and a leading byte order mark. JSON strings can't contain the first two raw, so no message
 * loses anything.
 */
export function stripDecoration(text: string): string {
  const marked = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (!marked.includes('\u001b') && !marked.includes('\u0000')) return marked;
  const stripped = marked.replace(TERMINAL_SEQUENCE_OR_NUL, '');
  return stripped.startsWith('\ufeff') ? stripped.slice(1) : stripped;
}
