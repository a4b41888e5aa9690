// The header lines before a message: `Content-Length: 42`, maybe others, an empty line.
import { type FramerEvents, formatExcerpt } from './framing.ts';

/**
 * Which lines start a header. Hosts send nothing but protocol, so any `Token: value` does. Servers also print log
 * lines such as `Warning: x`, so only `Content-Length` and `Content-Type` do.
 */
export type HeaderNames = 'content-length' | 'any';

const ANY = /^[A-Za-z][A-Za-z0-9-]*[ \t]*:/;
const KNOWN = /^content-(?:length[ \t]*:\s*\d+|type[ \t]*:.*)$/i;
const LENGTH = /^content-length[ \t]*:\s*(\d{1,15})$/i;
const GLUED = /[}\]]\s*(content-length[ \t]*:[ \t]*\d+)\s*$/i;

const LONGEST_LINE = 1024;
const MOST_LINES = 32;

export class Header {
  readonly #lines: string[];
  #length: number | undefined;

  private constructor(line: string) {
    this.#lines = [];
    this.#take(line);
  }

  /** The header that this line starts, if any. */
  static begin(line: Buffer, names: HeaderNames): Header | undefined {
    if (line.length > LONGEST_LINE || !beginsWithLetter(line, names)) return undefined;
    const text = readLine(line);
    return (names === 'any' ? ANY : KNOWN).test(text) ? new Header(text) : undefined;
  }

  /** The body's length in bytes; undefined if no line has set it yet. */
  get length(): number | undefined {
    return this.#length;
  }

  get text(): string {
    return this.#lines.join('\n');
  }

  /** Reads another line: `end` for an empty one, `foreign` for one that isn't a header line. */
  add(line: Buffer): 'more' | 'end' | 'foreign' {
    if (line.length > LONGEST_LINE) return 'foreign';
    const text = readLine(line);
    if (text === '') return 'end';
    if (this.#lines.length === MOST_LINES || !ANY.test(text)) return 'foreign';
    this.#take(text);
    return 'more';
  }

  /** Reports a header without a body: an error from a host, plain text from a server. */
  reportDropped(names: HeaderNames, events: FramerEvents): void {
    if (names === 'any' && this.#length === undefined) this.reportMissingLength(events);
    else for (const line of this.#lines) events.onNoise(formatExcerpt(line));
  }

  reportMissingLength(events: FramerEvents): void {
    const excerpt = formatExcerpt(this.text);
    events.onBroken({ reason: 'missing-content-length', framing: 'content-length', excerpt });
  }

  #take(line: string): void {
    this.#lines.push(line);
    const digits = LENGTH.exec(line)?.[1];
    // The last one wins: an earlier one may have been a log line.
    if (digits !== undefined) this.#length = Number(digits);
  }
}

/**
 * The index of a header that follows a message on the same line. That happens if the previous length was counted in
 * characters instead of bytes: the rest of that body is lost, but the next message doesn't have to be.
 */
export function findGluedHeader(line: Buffer): number | undefined {
  const { length } = line;
  const last = line[length - 1] === 0x0d ? line[length - 2] : line[length - 1];
  if (last === undefined || last < 0x30 || last > 0x39) return undefined;
  const from = Math.max(0, line.length - 64);
  const header = GLUED.exec(line.toString('latin1', from))?.[1];
  return header === undefined ? undefined : line.toString('latin1').lastIndexOf(header);
}

function readLine(line: Buffer): string {
  return line.toString().trim();
}

/** Avoids decoding most lines. A byte order mark counts as a letter here. */
function beginsWithLetter(line: Buffer, names: HeaderNames): boolean {
  let at = 0;
  while (line[at] === 0x20 || line[at] === 0x09) at += 1;
  const lower = (line[at] ?? 0) | 0x20;
  if (line[at] === 0xef) return true;
  return names === 'any' ? lower >= 0x61 && lower <= 0x7a : lower === 0x63;
}
