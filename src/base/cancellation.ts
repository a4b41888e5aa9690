// Does what an AbortSignal does at a fraction of the cost: creating one and listening to it took a quarter
// of our time per call (measured on Node 20).

export class Cancellation {
  #reason: Error | undefined;
  /** Nearly always one, so an array is cheaper than a Set. */
  #listeners: (() => void)[] | undefined;

  /** Undefined until cancelled. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  cancel(reason: Error): void {
    if (this.#reason) return;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    for (const listener of listeners ?? []) listener();
  }

  throwIfCancelled(): void {
    if (this.#reason) throw this.#reason;
  }

  /** Calls the listener once when cancelled, or immediately if already cancelled. */
  listen(listener: () => void): void {
    if (this.#reason) listener();
    else if (this.#listeners) this.#listeners.push(listener);
    else this.#listeners = [listener];
  }

  unlisten(listener: () => void): void {
    const listeners = this.#listeners;
    if (listeners?.at(-1) === listener) listeners.pop();
    else this.#listeners = listeners?.filter((one) => one !== listener);
  }

  /** Settles like the promise, or rejects with the reason on cancellation; the promise keeps running. */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = (): void => reject(this.#reason);
      this.listen(leave);
      promise.then(resolve, reject).finally(() => this.unlisten(leave));
    });
  }
}
