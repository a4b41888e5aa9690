// A line where a message may begin. Nearly always it is one message and nothing else, and that
// costs one parse. Log lines are told apart by a look at their bytes. Only what is left, messages
// with other text around them, is searched character by character.
import { Block } from './block.ts';
import { decode, isBlank, trimBytes } from './bytes.ts';
import { type FramerEvents, formatExcerpt } from './framing.ts';
import { isMessage, JsonScanner, type Likeness, parseJson, stripDecoration } from './json-text.ts';

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
const QUOTE = 0x22;
const ESCAPE = 0x1b;

/** Enough of a line, in bytes, for an excerpt in any script. */
const EXCERPT_BYTES = 800;
const LONGEST_SCALAR = 32;
const SCALAR = /^(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
/** What may follow the bracket of an array: the beginning of a value, or its end. */
const ARRAY_FOLLOWS = /[\s"{[\]\-\dtfn]/;
/** Where an object begins, or a batch of them. */
const START = /\[\s*(?:\{|$)|\{/g;
/** A search may look at this many characters in all, beyond twice the length of its line. */
const SEARCH_ALLOWANCE = 64 * 1024;

interface LineEvents extends FramerEvents {
  /** The most bytes one message may have; may change. */
  readonly limitBytes: number;
}

export class LineReader {
  readonly #events: LineEvents;

  constructor(events: LineEvents) {
    this.#events = events;
  }

  /** Reads one whole line, and returns the block if it opens one. */
  read(bytes: Buffer): Block | undefined {
    const line = trimBytes(bytes);
    const first = line[0];
    if (first === undefined) return undefined;
    if (first === OPEN_BRACE || (first === OPEN_BRACKET && mayBeArray(line))) {
      const text = decode(line);
      return mayBeWhole(line) && this.#deliver(text) ? undefined : this.#readDecorated(text);
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

  /** Reads the rest of a line whose beginning was a message: nothing in it stands alone. */
  readRest(bytes: Buffer): Block | undefined {
    return this.#search(bytes.toString().trim());
  }

  #deliver(text: string): boolean {
    const value = parseJson(text);
    if (typeof value !== 'object' || value === null) return false;
    this.#events.onMessage({ text, value, framing: 'newline' });
    return true;
  }

  /** Reads a line that is not JSON as it stands: it may be in colours, or among other text. */
  #readDecorated(line: string): Block | undefined {
    const text = stripDecoration(line).trim();
    const isWhole = text !== line && /^[[{]/.test(text) && this.#deliver(text);
    return isWhole ? undefined : this.#search(text);
  }

  #search(text: string): Block | undefined {
    let behind = 0;
    for (const found of findObjects(text)) {
      this.#reportRest(text.slice(behind, found.start));
      if (found.scanner) {
        const { likeness, scanner, start } = found;
        const opening = { text: text.slice(start), scanner, likeness };
        return new Block(opening, this.#events.limitBytes, this.#events);
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
  /** An object that the line does not end, with the scanner that has read so far. */
  | { start: number; scanner: JsonScanner; likeness: Likeness };

/** The messages in a line, in order, and last an unfinished one, if no whole one comes behind it. */
function findObjects(text: string): Found[] {
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
    const value = parseJson(slice);
    if (value === undefined) continue;
    // What is valid JSON is not looked into: a message inside is only being talked about.
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

/** A parse that fails costs as much as reading a hundred characters, so it is not tried in vain. */
function mayBeWhole(line: Buffer): boolean {
  const last = line[line.length - 1];
  if (line[0] === OPEN_BRACKET) return last === CLOSE_BRACKET;
  const next = line[1]; // a key, the end, or a blank before either
  return last === CLOSE_BRACE && (next === QUOTE || next === CLOSE_BRACE || isBlank(next));
}

/** `[info] ready` and `[12:30] ready` are not worth a parse. */
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
