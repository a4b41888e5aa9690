// A line on the terminal that says what is still being waited for: a server that npx has to fetch
// first can take half a minute, and a mute program looks like a hung one.
import { onOneLine } from '../base/text.ts';
import { cutEnd } from './columns.ts';
import type { Output } from './output.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const INTERVAL_MS = 100;
const A_WHILE_MS = 3_000;
const CLEAR_LINE = '\r\u001b[K';

interface Wait {
  readonly since: number;
  /** What is said about it at the moment. */
  about: string;
}

export class Progress implements Disposable {
  readonly #waiting = new Map<string, Wait>();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #stream = process.stderr;
  #frame = 0;
  #isPaused = false;

  readonly #isQuiet: boolean;

  /** Where output is for a program, nothing is said without a terminal. */
  constructor({ isJson }: Pick<Output, 'isJson'> = { isJson: false }) {
    this.#isQuiet = isJson;
    if (this.#stream.isTTY) this.#timer = setInterval(() => this.#draw(), INTERVAL_MS).unref();
  }

  /** Shows `name` until the work is done, whatever comes of it; and `reason` if that takes a while. */
  async during<T>(name: string, work: T | Promise<T>, reason?: string): Promise<T> {
    this.#waiting.set(name, { since: performance.now(), about: '' });
    const explain = (): void => this.#explain(name, reason ?? '');
    const timer = reason === undefined ? undefined : setTimeout(explain, A_WHILE_MS).unref();
    try {
      return await work;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(name);
    }
  }

  /** Says something about what is being waited for. */
  describe(name: string, about: string): void {
    const wait = this.#waiting.get(name);
    if (wait) wait.about = about;
  }

  /** Leaves a line above the one that moves. */
  note(text: string): void {
    if (this.#timer) this.#stream.write(`${CLEAR_LINE}${text}\n`);
  }

  /** Takes the moving line away for something that is printed elsewhere; it is drawn again soon. */
  clear(): void {
    if (this.#timer) this.#stream.write(CLEAR_LINE);
  }

  /** Lets the terminal alone while somebody is asked something. */
  async paused<T>(work: () => Promise<T>): Promise<T> {
    this.#isPaused = true;
    this.clear();
    try {
      return await work();
    } finally {
      this.#isPaused = false;
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.clear();
  }

  #explain(name: string, reason: string): void {
    if (this.#timer) this.describe(name, reason);
    else if (!this.#isQuiet) this.#stream.write(`${onOneLine(name)}: ${reason}\n`);
  }

  #draw(): void {
    if (this.#isPaused) return;
    const now = performance.now();
    const names = [...this.#waiting].map(([name, { since, about }]) => {
      const seconds = Math.floor((now - since) / 1_000);
      return onOneLine(`${name} ${seconds} s${about === '' ? '' : ` (${about})`}`);
    });
    const frame = FRAMES[this.#frame++ % FRAMES.length] ?? '';
    const text = names.length === 0 ? '' : `${frame} waiting for ${names.join(', ')}`;
    this.#stream.write(`${CLEAR_LINE}${cutEnd(text, (this.#stream.columns || 80) - 1)}`);
  }
}
