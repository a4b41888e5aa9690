// A server's stderr: always read (a full pipe would block the server), forwarded line by line with secrets masked, and
// the last lines kept for error messages.
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { guard } from '../base/guard.ts';
import { createCutMask, createLineMask, createMask, type Mask } from '../base/secrets.ts';
import { cleanText } from '../base/text.ts';

const KEPT_LINES = 8;
const KEPT_CHARS_PER_LINE = 400;
/** Longer lines are forwarded in pieces, so that output without line ends doesn't pile up. */
const LONGEST_LINE = 16_384;
/** The end of a piece may cut a secret in two, so this much is held back until more arrives. */
const LONGEST_SECRET = 4_096;

export interface StderrOptions {
  /** Masked in the output. */
  readonly secrets: Iterable<string>;
  readonly onStderr: (line: string) => void;
  readonly onBug: (error: unknown) => void;
}

export class StderrReader {
  #mask: Mask;
  #lineMask: Mask;
  #cutMask: Mask;
  readonly #onLine: (line: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #open = '';
  #last: string[] = [];

  constructor(stream: Readable, { secrets, onStderr, onBug }: StderrOptions) {
    this.#mask = createMask(secrets);
    this.#lineMask = createLineMask(secrets);
    this.#cutMask = createCutMask(secrets);
    this.#onLine = onStderr;
    const read = (chunk: Buffer): void => this.#read(this.#decoder.write(chunk));
    const end = (): void => this.#read(`${this.#decoder.end()}\n`);
    stream.on('data', guard(onBug, read));
    stream.on('end', guard(onBug, end));
    stream.on('error', () => {}); // the process is exiting, which the link handles
  }

  /** Replaces the secrets that are masked from now on. */
  hide(secrets: readonly string[]): void {
    this.#mask = createMask(secrets);
    this.#lineMask = createLineMask(secrets);
    this.#cutMask = createCutMask(secrets);
  }

  /** The last lines as one string; empty if there were none. */
  get tail(): string {
    const lines = [...this.#last, this.#cutMask(cleanText(this.#open))];
    const shortened = lines.map((line) => line.trimEnd().slice(0, KEPT_CHARS_PER_LINE));
    return shortened.filter(Boolean).join('\n');
  }

  #read(text: string): void {
    const lines = (this.#open + text).split('\n');
    this.#open = lines.pop() ?? '';
    if (this.#open.length > LONGEST_LINE) {
      const masked = this.#mask(this.#open);
      lines.push(masked.slice(0, -LONGEST_SECRET));
      this.#open = masked.slice(-LONGEST_SECRET);
    }
    const printed = lines.filter((line) => line.trim() !== '').map((line) => this.#tidy(line));
    for (const line of printed) this.#onLine(line);
    this.#last = [...this.#last, ...printed.slice(-KEPT_LINES)].slice(-KEPT_LINES);
  }

  /** Masks again after cleaning: a color code inside a secret would hide it from the first mask. */
  #tidy(line: string): string {
    const masked = this.#lineMask(line);
    const clean = cleanText(masked);
    return clean === masked ? masked : this.#lineMask(clean);
  }
}
