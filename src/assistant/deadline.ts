// The time that one query has, for the model and the tools together. It stands still while a person is
// asked something: people think slowly.
import { Cancellation } from '../base/cancellation.ts';

export class Deadline implements Disposable {
  /** Called off by the one who has asked, or when the time is over. */
  readonly cancellation = new Cancellation();
  readonly #caller: Cancellation;
  readonly #onLate: () => Error;
  readonly #follow = (): void => {
    if (this.#caller.reason) this.cancellation.cancel(this.#caller.reason);
  };
  #remainingMs: number;
  #since = performance.now();
  #questions = 0;
  #timer: NodeJS.Timeout | undefined;
  #isDisposed = false;

  constructor(limitMs: number, caller: Cancellation, onLate: () => Error) {
    this.#remainingMs = limitMs;
    this.#caller = caller;
    this.#onLate = onLate;
    caller.listen(this.#follow);
    this.#run();
  }

  get remainingMs(): number {
    const passed = this.#questions > 0 ? 0 : performance.now() - this.#since;
    return this.#remainingMs - passed;
  }

  /** Waits for what a person answers, off the clock. */
  async outside<T>(answer: Promise<T>): Promise<T> {
    if (this.#questions++ === 0) {
      this.#remainingMs -= performance.now() - this.#since;
      clearTimeout(this.#timer);
    }
    try {
      return await answer;
    } finally {
      if (--this.#questions === 0) this.#run();
    }
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    this.#caller.unlisten(this.#follow);
  }

  #run(): void {
    if (this.#isDisposed) return; // the query was called off while somebody was still being asked
    this.#since = performance.now();
    const late = (): void => this.cancellation.cancel(this.#onLate());
    this.#timer = setTimeout(late, Math.max(0, this.#remainingMs));
  }
}
