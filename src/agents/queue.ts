// Limits how many run at once. The others wait in order of arrival, and are notified when they move up.
import type { Cancellation } from '../base/cancellation.ts';

interface Waiting {
  readonly start: () => void;
  readonly onMove: (before: number) => void;
}

export class Queue {
  readonly #limit: () => number;
  readonly #waiting: Waiting[] = [];
  #busy = 0;

  constructor(limit: () => number) {
    this.#limit = limit;
  }

  get running(): number {
    return this.#busy;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Does the work as soon as there is room for it. `onMove` gets the number of those ahead each time
   * it changes. Cancelling a waiting one removes it from the queue.
   */
  async during<T>(
    cancellation: Cancellation,
    work: () => Promise<T>,
    onMove: (before: number) => void = () => {},
  ): Promise<T> {
    cancellation.throwIfCancelled();
    if (this.#busy < this.#limit()) this.#busy++;
    else await this.#wait(cancellation, onMove);
    try {
      return await work();
    } finally {
      this.#busy--;
      this.admit();
    }
  }

  #wait(cancellation: Cancellation, onMove: (before: number) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        this.#notifyAll();
        reject(cancellation.reason);
      };
      const waiting: Waiting = {
        onMove,
        start: () => {
          cancellation.unlisten(giveUp);
          resolve();
        },
      };
      this.#waiting.push(waiting);
      cancellation.listen(giveUp);
      onMove(this.#waiting.length - 1);
    });
  }

  /** Starts as many as there is room for. */
  admit(): void {
    const free = Math.max(0, this.#limit() - this.#busy);
    const next = this.#waiting.splice(0, free);
    this.#busy += next.length;
    for (const { start } of next) start();
    if (next.length > 0) this.#notifyAll();
  }

  #notifyAll(): void {
    for (const [before, { onMove }] of this.#waiting.entries()) onMove(before);
  }
}
