// A status line on the terminal that shows what the command is waiting for. A server that npx has to download
// first can take half a minute, and a silent program looks like a hung one.
import { printable } from '../../base/text.ts';
import type { ChildConfig } from '../../config/config.ts';
import { runnerOf } from '../../config/server/runners.ts';
import { cutEnd } from './columns.ts';
import type { Output } from './output.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const INTERVAL_MS = 100;
const A_WHILE_MS = 3_000;
const CLEAR_LINE = '\r\u001b[K';

interface Wait {
  readonly since: number;
  /** Shown in parentheses. */
  about: string;
}

export class Progress implements Disposable {
  readonly #waiting = new Map<string, Wait>();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #stream = process.stderr;
  #frame = 0;
  #isPaused = false;

  readonly #isQuiet: boolean;

  /** With JSON output, nothing is printed unless stderr is a terminal. */
  constructor({ isJson }: Pick<Output, 'isJson'> = { isJson: false }) {
    this.#isQuiet = isJson;
    if (this.#stream.isTTY) this.#timer = setInterval(() => this.#draw(), INTERVAL_MS).unref();
  }

  /** Shows `name` until the work settles, and `reason` if that takes a while. */
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

  /** Sets what is shown about a name. */
  describe(name: string, about: string): void {
    const wait = this.#waiting.get(name);
    if (wait) wait.about = about;
  }

  /** Prints a line above the status line. */
  note(text: string): void {
    if (this.#timer) this.#stream.write(`${CLEAR_LINE}${text}\n`);
  }

  /** Clears the status line before other output. It is redrawn with the next tick. */
  clear(): void {
    if (this.#timer) this.#stream.write(CLEAR_LINE);
  }

  /** Hides the status line while the user is asked something. */
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
    else if (!this.#isQuiet) this.#stream.write(`${printable(name)}: ${reason}\n`);
  }

  #draw(): void {
    if (this.#isPaused) return;
    const now = performance.now();
    const names = [...this.#waiting].map(([name, { since, about }]) => {
      const seconds = Math.floor((now - since) / 1_000);
      return printable(`${name} ${seconds} s${about === '' ? '' : ` (${about})`}`);
    });
    const frame = FRAMES[this.#frame++ % FRAMES.length] ?? '';
    const text = names.length === 0 ? '' : `${frame} waiting for ${names.join(', ')}`;
    this.#stream.write(`${CLEAR_LINE}${cutEnd(text, (this.#stream.columns || 80) - 1)}`);
  }
}

/** Explains a slow start: npx, uvx and similar programs download the server first. Undefined for other programs. */
export function downloadNote({ command }: ChildConfig): string | undefined {
  const runner = command && runnerOf(command);
  return runner === undefined ? undefined : `${runner} is probably downloading it`;
}
