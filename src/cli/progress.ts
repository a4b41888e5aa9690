// A line on the terminal that says what is still being waited for: a server that npx has to fetch
// first can take half a minute, and a mute program looks like a hung one.
import { onOneLine } from '../base/text.ts';
import { cutEnd } from './columns.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const INTERVAL_MS = 100;

export class Progress implements Disposable {
  readonly #waiting = new Map<string, number>();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #stream = process.stderr;
  #frame = 0;
  #isPaused = false;

  constructor() {
    if (this.#stream.isTTY) this.#timer = setInterval(() => this.#draw(), INTERVAL_MS).unref();
  }

  /** Shows `name` until the work is done, whatever comes of it. */
  async during<T>(name: string, work: Promise<T>): Promise<T> {
    this.#waiting.set(name, performance.now());
    try {
      return await work;
    } finally {
      this.#waiting.delete(name);
    }
  }

  /** Leaves a line above the one that moves. */
  note(text: string): void {
    if (this.#timer) this.#stream.write(`\r\u001b[K${text}\n`);
  }

  /** Lets the terminal alone while somebody is asked something. */
  async paused<T>(work: () => Promise<T>): Promise<T> {
    this.#isPaused = true;
    if (this.#timer) this.#stream.write('\r\u001b[K');
    try {
      return await work();
    } finally {
      this.#isPaused = false;
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (this.#timer) this.#stream.write('\r\u001b[K');
  }

  #draw(): void {
    if (this.#isPaused) return;
    const now = performance.now();
    const names = [...this.#waiting].map(
      ([name, since]) => `${onOneLine(name)} ${Math.floor((now - since) / 1_000)} s`,
    );
    const frame = FRAMES[this.#frame++ % FRAMES.length] ?? '';
    const text = names.length === 0 ? '' : `${frame} waiting for ${names.join(', ')}`;
    this.#stream.write(`\r\u001b[K${cutEnd(text, (this.#stream.columns || 80) - 1)}`);
  }
}
