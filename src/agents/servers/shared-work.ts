// Work that several wait for. Each of them may leave; it is called off when the last has left, who
// then stays until nothing of it is left.
import { Cancellation } from '../../base/cancellation.ts';

export class SharedWork<T> {
  readonly #cancellation = new Cancellation();
  readonly #work: Promise<T>;
  readonly #onAbandoned: () => void;
  #waiting = 0;

  constructor(work: (cancellation: Cancellation) => Promise<T>, onAbandoned: () => void) {
    this.#work = work(this.#cancellation);
    this.#work.catch(() => {}); // told to those who wait
    this.#onAbandoned = onAbandoned;
  }

  async join(cancellation: Cancellation): Promise<T> {
    this.#waiting++;
    try {
      return await cancellation.orElse(this.#work);
    } catch (error) {
      if (cancellation.reason && this.#waiting === 1) await this.cancel(cancellation.reason);
      throw error;
    } finally {
      this.#waiting--;
    }
  }

  /** Calls the work off for all, and waits for its end. */
  async cancel(reason: Error): Promise<void> {
    this.#onAbandoned();
    this.#cancellation.cancel(reason);
    await this.#work.catch(() => {}); // its end is what counts
  }
}
