// One query's time limit, for the model and the tools together. The clock stops while a question waits for the
// user.
import { Cancellation } from '../base/cancellation.ts';

export class Deadline implements Disposable {
  /** Cancelled by the caller, or when time is up. */
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

  /** Waits for the user's answer with the clock stopped. */
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
    if (this.#isDisposed) return; // the query was cancelled during a question
    this.#since = performance.now();
    const late = (): void => this.cancellation.cancel(this.#onLate());
    this.#timer = setTimeout(late, Math.max(0, this.#remainingMs));
  }
}
