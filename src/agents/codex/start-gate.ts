// The first start of the engine lays out the folder that it keeps its things in, and two that do so at
// once make each other fail. So they are let through one by one, until one has come through.
import type { Cancellation } from '../../base/cancellation.ts';

export class StartGate {
  #isOpen = false;
  /** Settles, never rejecting, when the start that goes on has succeeded or failed. */
  #ahead: Promise<void> | undefined;

  /** Who is called off while he waits does not start at all. */
  async pass<T>(cancellation: Cancellation, start: () => Promise<T>): Promise<T> {
    while (this.#ahead) await cancellation.orElse(this.#ahead);
    if (this.#isOpen) return start();
    const starting = start();
    this.#ahead = starting
      .then(
        () => {
          this.#isOpen = true;
        },
        () => {}, // the one who starts hears of it
      )
      .finally(() => {
        this.#ahead = undefined;
      });
    return starting;
  }
}
