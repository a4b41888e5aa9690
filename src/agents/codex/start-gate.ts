// On its first start, Codex creates its own folder. Two processes that do so at once can fail, so we start them one
// at a time until one has succeeded.
import type { Cancellation } from '../../base/cancellation.ts';

export class StartGate {
  #isOpen = false;
  /** Resolves when the current start has succeeded or failed. */
  #ahead: Promise<void> | undefined;

  /** Never calls `start` if cancelled while waiting. */
  async pass<T>(cancellation: Cancellation, start: () => Promise<T>): Promise<T> {
    while (this.#ahead) await cancellation.race(this.#ahead);
    if (this.#isOpen) return start();
    const starting = start();
    this.#ahead = starting
      .then(
        () => {
          this.#isOpen = true;
        },
        () => {}, // the caller of that start gets it
      )
      .finally(() => {
        this.#ahead = undefined;
      });
    return starting;
  }
}
