// One message printed over several lines. A line that starts an object without ending it opens a block, and the
// block collects lines until the object is closed.
//
// The risk is a start that never ends, such as half a message or the log line `{"half":`. It must not swallow the
// valid messages after it. So a line that can't continue the JSON ends the block and is read again on its own. If
// an object could continue it, an object in the first column that turns out to be a message is treated as one.
import { ByteCollector } from './bytes.ts';
import { type BrokenReason, type FramerEvents, formatExcerpt, type ReadLimits } from './framing.ts';
import {
  isMessage,
  type JsonScanner,
  type Likeness,
  parseWithin,
  stripDecoration,
} from './json-text.ts';
import { OversizeDrain } from './oversize.ts';
import type { ShapeLimits } from './shape.ts';

/** Each open candidate may cost a parse of the lines after it, so their number is limited. */
const MOST_CANDIDATES = 64;
/** Enough for an excerpt in any script. */
const EXCERPT_BYTES = 800;

export interface BlockStart {
  /** The opening line, from its first bracket. */
  readonly text: string;
  /** The scanner that has read that line. */
  readonly scanner: JsonScanner;
  readonly likeness: Likeness;
}

/** An object or array inside the block that may be a message or batch itself. */
interface Candidate {
  /** Its offset in the kept bytes. */
  readonly start: number;
  /** The scanner's depth outside it. */
  readonly floor: number;
}

export class Block {
  readonly #scanner: JsonScanner;
  readonly #likeness: Likeness;
  readonly #limits: ReadLimits;
  readonly #events: FramerEvents;
  /** The lines so far, as bytes: many short strings would take far more memory. */
  readonly #kept = new ByteCollector();
  readonly #candidates: Candidate[] = [];
  #drain: OversizeDrain | undefined;
  #isOpen = true;

  constructor(start: BlockStart, limits: ReadLimits, events: FramerEvents) {
    this.#scanner = start.scanner;
    this.#likeness = start.likeness;
    this.#limits = limits;
    this.#events = events;
    this.#kept.appendText(`${start.text}\n`);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Adds the next line. Returns what isn't part of the block and still has to be read. */
  add(line: Buffer): Buffer | undefined {
    const text = stripDecoration(line.toString());
    if (this.#drain) return this.#drainLine(this.#drain, line, text);
    const lineStart = this.#kept.length;
    if (/^[{[]/.test(text)) this.#addCandidate();
    this.#kept.appendText(`${text}\n`);
    let from = 0;
    for (;;) {
      const candidate = this.#candidates.at(-1);
      const outcome = this.#scanner.scan(text, from, candidate?.floor);
      if (outcome === 'invalid') {
        this.#breakOff(lineStart);
        return line;
      }
      if (outcome === 'open') {
        if (this.#kept.length > this.#limits.limitBytes) this.#drain = this.#createDrain();
        return undefined;
      }
      from = this.#scanner.at;
      const end = lineStart + Buffer.byteLength(text.slice(0, from));
      if (candidate ? this.#deliverCandidate(candidate, end) : this.#deliverAll(end)) {
        return restOf(text, from);
      }
    }
  }

  /** Abandons the block. */
  end(): void {
    if (this.#drain) this.#drain.finish();
    else this.#breakOff(this.#kept.length);
    this.#isOpen = false;
  }

  /** Abandons the block because a line is too large; the drain already has the block's head. */
  endInOversize(): OversizeDrain {
    this.#isOpen = false;
    return this.#drain ?? this.#createDrain();
  }

  #addCandidate(): void {
    if (this.#candidates.length === MOST_CANDIDATES) this.#candidates.shift();
    this.#candidates.push({ start: this.#kept.length, floor: this.#scanner.depth });
  }

  /** Whether the candidate that ends here is a message. If so, the text before it wasn't. */
  #deliverCandidate(candidate: Candidate, end: number): boolean {
    this.#candidates.pop();
    const text = this.#kept.textBetween(candidate.start, end);
    const value = parseWithin(text, this.#limits.shape);
    if (!isMessage(value, 'marked')) return false;
    this.#breakOff(candidate.start);
    this.#events.onMessage({ text, value, framing: 'newline' });
    return true;
  }

  #deliverAll(end: number): true {
    this.#isOpen = false;
    const text = this.#kept.textBetween(0, end);
    const value = parseWithin(text, this.#limits.shape);
    if (isMessage(value, this.#likeness)) {
      this.#events.onMessage({ text, value, framing: 'newline' });
    } else this.#reportBroken(text, value === undefined ? 'invalid-json' : 'not-an-object');
    return true;
  }

  #breakOff(end: number): void {
    this.#isOpen = false;
    this.#reportBroken(this.#kept.textBetween(0, Math.min(end, EXCERPT_BYTES)), 'invalid-json');
  }

  #reportBroken(text: string, reason: BrokenReason): void {
    const excerpt = formatExcerpt(text);
    // If other text precedes it on its line, it may not have been meant as a message.
    if (this.#likeness === 'marked') this.#events.onNoise(excerpt);
    else this.#events.onBroken({ reason, framing: 'newline', excerpt });
  }

  #createDrain(): OversizeDrain {
    const { onOversize } = this.#events;
    const { limitBytes } = this.#limits;
    const drain = new OversizeDrain({ limitBytes, framing: 'newline', onOversize });
    drain.feed(this.#kept.take());
    return drain;
  }

  /** Beyond the limit, only the scanner continues, to find the end. */
  #drainLine(drain: OversizeDrain, line: Buffer, text: string): Buffer | undefined {
    const isMarked = isMarkedMessage(text, this.#limits.shape);
    const outcome = isMarked ? 'invalid' : this.#scanner.scan(text, 0);
    if (outcome === 'invalid') {
      this.end();
      return line;
    }
    const end = outcome === 'closed' ? this.#scanner.at : text.length;
    drain.feed(Buffer.from(`${text.slice(0, end)}\n`));
    if (outcome === 'open') return undefined;
    this.end();
    return restOf(text, end);
  }
}

function isMarkedMessage(text: string, limits: ShapeLimits): boolean {
  if (!text.startsWith('{') || !text.trimEnd().endsWith('}')) return false;
  return isMessage(parseWithin(text, limits), 'marked');
}

function restOf(text: string, from: number): Buffer | undefined {
  const rest = text.slice(from);
  return rest.trim() ? Buffer.from(rest) : undefined;
}
