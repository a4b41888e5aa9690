// So many at once, and the others in their turn. Who waits may leave.
import type { Cancellation } from '../../base/cancellation.ts';

export class Turns {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  async take<T>(cancellation: Cancellation, work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await this.#wait(cancellation);
    else this.#free--;
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next) next();
      else this.#free++;
    }
  }

  /** Resolves with a place that somebody has left. */
  #wait(cancellation: Cancellation): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(enter);
        reject(cancellation.reason);
      };
      const enter = (): void => {
        this.#waiting.delete(enter);
        cancellation.unlisten(leave);
        resolve();
      };
      this.#waiting.add(enter);
      cancellation.listen(leave);
    });
  }
}
