// So many at once and no more; the others wait in line, in the order they came, and are told where
// they stand.
import type { Cancellation } from '../base/cancellation.ts';

interface Waiting {
  readonly enter: () => void;
  readonly onMove: (before: number) => void;
}

export class Queue {
  readonly #places: () => number;
  readonly #waiting: Waiting[] = [];
  #busy = 0;

  constructor(places: () => number) {
    this.#places = places;
  }

  get running(): number {
    return this.#busy;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Does the work as soon as there is a place for it. `onMove` is told how many wait before it, each
   * time that changes. Whoever is called off while waiting leaves the line.
   */
  async during<T>(
    cancellation: Cancellation,
    work: () => Promise<T>,
    onMove: (before: number) => void = () => {},
  ): Promise<T> {
    cancellation.throwIfCancelled();
    if (this.#busy < this.#places()) this.#busy++;
    else await this.#wait(cancellation, onMove);
    try {
      return await work();
    } finally {
      this.#busy--;
      this.letIn();
    }
  }

  #wait(cancellation: Cancellation, onMove: (before: number) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        this.#tellAll();
        reject(cancellation.reason);
      };
      const waiting: Waiting = {
        onMove,
        enter: () => {
          cancellation.unlisten(giveUp);
          resolve();
        },
      };
      this.#waiting.push(waiting);
      cancellation.listen(giveUp);
      onMove(this.#waiting.length - 1);
    });
  }

  /** Gives free places to the first in line. */
  letIn(): void {
    const free = Math.max(0, this.#places() - this.#busy);
    const next = this.#waiting.splice(0, free);
    this.#busy += next.length;
    for (const { enter } of next) enter();
    if (next.length > 0) this.#tellAll();
  }

  #tellAll(): void {
    for (const [before, { onMove }] of this.#waiting.entries()) onMove(before);
  }
}
