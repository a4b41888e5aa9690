// Reads a line on which a message may start. Nearly always the line is exactly one message, which costs one parse. Log
// lines are recognized by a few bytes. Only the rest, messages surrounded by other text, is searched character by
// character.
import { Block } from './block.ts';
import { decode, isBlank, trimBytes } from './bytes.ts';
import { type FramerEvents, formatExcerpt, type ReadLimits } from './framing.ts';
import {
  isMessage,
  JsonScanner,
  type Likeness,
  parseJson,
  parseWithin,
  stripDecoration,
} from './json-text.ts';
import { oversizeEvent } from './oversize.ts';
import { findExceeded, type ShapeLimits } from './shape.ts';

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
const QUOTE = 0x22;
const ESCAPE = 0x1b;

/** Enough bytes for an excerpt in any script. */
const EXCERPT_BYTES = 800;
const LONGEST_SCALAR = 32;
const SCALAR = /^(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
/** What can follow an array's opening bracket: a value, or the end. */
const ARRAY_FOLLOWS = /[\s"{[\]\-\dtfn]/;
/** The start of an object or a batch. */
const START = /\[\s*(?:\{|$)|\{/g;
/** How many characters a search may look at in total, beyond twice the line's length. */
const SEARCH_ALLOWANCE = 64 * 1024;

export class LineReader {
  readonly #limits: ReadLimits;
  readonly #events: FramerEvents;

  constructor(limits: ReadLimits, events: FramerEvents) {
    this.#limits = limits;
    this.#events = events;
  }

  /** Reads one line; returns a block if the line opens one. */
  read(bytes: Buffer): Block | undefined {
    const line = trimBytes(bytes);
    const first = line[0];
    if (first === undefined) return undefined;
    if (first === OPEN_BRACE || (first === OPEN_BRACKET && mayBeArray(line))) {
      const isWhole = mayBeWhole(line);
      const exceeded = isWhole ? findExceeded(line, this.#limits.shape) : undefined;
      if (exceeded) {
        this.#events.onOversize(oversizeEvent(exceeded, 'newline'));
        return undefined;
      }
      const text = decode(line);
      if (!isWhole) return this.#readDecorated(text);
      return this.#deliver(text, parseJson(text)) ? undefined : this.#readDecorated(text);
    }
    if (isScalar(line, first)) {
      const excerpt = formatExcerpt(line.toString('utf8', 0, EXCERPT_BYTES));
      this.#events.onBroken({ reason: 'not-an-object', framing: 'newline', excerpt });
      return undefined;
    }
    if (mayContainMessage(line)) return this.#readDecorated(line.toString());
    this.#events.onNoise(formatExcerpt(line.toString('utf8', 0, EXCERPT_BYTES)));
    return undefined;
  }

  /** Reads the rest of a line that started with a message. */
  readRest(bytes: Buffer): Block | undefined {
    return this.#search(bytes.toString().trim());
  }

  #deliver(text: string, value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return false;
    this.#events.onMessage({ text, value, framing: 'newline' });
    return true;
  }

  /** Reads a line that isn't plain JSON: the message may have colors or other text around it. */
  #readDecorated(line: string): Block | undefined {
    const text = stripDecoration(line).trim();
    const mayBeOne = text !== line && /^[[{]/.test(text);
    const value = mayBeOne ? parseWithin(text, this.#limits.shape) : undefined;
    return this.#deliver(text, value) ? undefined : this.#search(text);
  }

  #search(text: string): Block | undefined {
    let behind = 0;
    for (const found of findObjects(text, this.#limits.shape)) {
      this.#reportRest(text.slice(behind, found.start));
      if (found.scanner) {
        const { likeness, scanner, start } = found;
        const opening = { text: text.slice(start), scanner, likeness };
        return new Block(opening, this.#limits, this.#events);
      }
      this.#events.onMessage({ text: found.text, value: found.value, framing: 'newline' });
      behind = found.end;
    }
    this.#reportRest(text.slice(behind));
    return undefined;
  }

  #reportRest(text: string): void {
    const excerpt = formatExcerpt(text);
    if (excerpt === '') return;
    if (/^(?:\[\s*)?\{/.test(excerpt)) {
      this.#events.onBroken({ reason: 'invalid-json', framing: 'newline', excerpt });
    } else this.#events.onNoise(excerpt);
  }
}

type Found =
  | { start: number; end: number; text: string; value: unknown; scanner?: undefined }
  /** An object that continues beyond this line, and the scanner that has read it so far. */
  | { start: number; scanner: JsonScanner; likeness: Likeness };

/** The messages in a line, in order; the last may be incomplete. */
function findObjects(text: string, limits: ShapeLimits): Found[] {
  const found: Found[] = [];
  const lastMark = text.lastIndexOf('"jsonrpc"');
  let unfinished: Found | undefined;
  let allowance = 2 * text.length + SEARCH_ALLOWANCE;
  let behind = 0;
  let hasTextBefore = false;
  START.lastIndex = 0;
  for (let match = START.exec(text); match && allowance > 0; match = START.exec(text)) {
    const start = match.index;
    START.lastIndex = start + 1;
    hasTextBefore ||= text.slice(behind, start).trim() !== '';
    const likeness = hasTextBefore ? 'marked' : 'likely';
    if (hasTextBefore && start > lastMark && start < text.length - 1) continue;
    const scanner = new JsonScanner();
    const outcome = scanner.scan(text, start);
    allowance -= scanner.at - start + 1;
    hasTextBefore = true;
    if (outcome === 'open') unfinished ??= { start, scanner, likeness };
    if (outcome !== 'closed') continue;
    const slice = text.slice(start, scanner.at);
    const value = parseWithin(slice, limits);
    if (value === undefined) continue;
    // A message inside valid JSON is quoted, not sent.
    START.lastIndex = scanner.at;
    if (!isMessage(value, likeness)) continue;
    found.push({ start, end: scanner.at, text: slice, value });
    behind = scanner.at;
    hasTextBefore = false;
    unfinished = undefined;
  }
  if (unfinished) found.push(unfinished);
  return found;
}

/** A failed parse costs as much as reading a hundred characters, so rule out the obvious. */
function mayBeWhole(line: Buffer): boolean {
  const last = line[line.length - 1];
  if (line[0] === OPEN_BRACKET) return last === CLOSE_BRACKET;
  const next = line[1]; // a key, the end, or a blank
  return last === CLOSE_BRACE && (next === QUOTE || next === CLOSE_BRACE || isBlank(next));
}

/** Rules out `[info] ready` and `[12:30] ready`. */
function mayBeArray(line: Buffer): boolean {
  if (line.length === 1) return true;
  const next = trimBytes(line.subarray(1, 64))[0];
  if (next === OPEN_BRACE) return true;
  return line.at(-1) === CLOSE_BRACKET && ARRAY_FOLLOWS.test(String.fromCharCode(next ?? 0x20));
}

function isScalar(line: Buffer, first: number): boolean {
  if (first === QUOTE) {
    return line.at(-1) === QUOTE && typeof parseJson(line.toString()) === 'string';
  }
  return line.length <= LONGEST_SCALAR && SCALAR.test(line.toString());
}

function mayContainMessage(line: Buffer): boolean {
  if (!line.includes(OPEN_BRACE)) return false;
  return line.at(-1) === OPEN_BRACE || line.includes('"jsonrpc"') || line.includes(ESCAPE);
}
