// How often a child may be started. Quick failures are followed by growing waits; five starts in
// ten seconds are the most, after which the child is parked until the oldest of them is ten seconds
// old. Nothing is restarted by itself: a start needs somebody who wants to use the child.

const WINDOW_MS = 10_000;
const MAX_STARTS = 5;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;

export class RestartLimit {
  #starts: number[] = [];
  #failures = 0;

  /** Milliseconds for which the child is parked, counted from `now`; 0 if it is not. */
  parkedMs(now: number): number {
    this.#starts = this.#starts.filter((start) => now - start < WINDOW_MS);
    const oldest = this.#starts[0];
    if (this.#starts.length < MAX_STARTS || oldest === undefined) return 0;
    return oldest + WINDOW_MS - now;
  }

  /** Milliseconds to wait before the next start: none after the first failure, then doubling. */
  get waitMs(): number {
    if (this.#failures < 2) return 0;
    return Math.min(FIRST_WAIT_MS * 2 ** (this.#failures - 2), LONGEST_WAIT_MS);
  }

  noteStart(now: number): void {
    this.#starts.push(now);
  }

  /** The last start was a question to which there is an answer now. */
  forgetStart(): void {
    this.#starts.pop();
  }

  /** It was stopped because nobody needed it: its next start says nothing against it. */
  forget(): void {
    this.#starts = [];
    this.#failures = 0;
  }

  /** A life that is over: it has worked, or it ended (or never began) without an answer. */
  noteEnd(life: 'worked' | 'failed'): void {
    this.#failures = life === 'worked' ? 0 : this.#failures + 1;
  }
}
