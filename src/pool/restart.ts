// Limits how often a server is started. Quick failures are followed by growing waits. After five starts in ten
// seconds the server is parked until the oldest is ten seconds old. Nothing restarts on its own: every start comes
// from a use.

const WINDOW_MS = 10_000;
const MAX_STARTS = 5;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;

export class RestartLimit {
  #starts: number[] = [];
  #failures = 0;

  /** Milliseconds until the child is no longer parked; 0 if it isn't. */
  parkedMs(now: number): number {
    this.#starts = this.#starts.filter((start) => now - start < WINDOW_MS);
    const oldest = this.#starts[0];
    if (this.#starts.length < MAX_STARTS || oldest === undefined) return 0;
    return oldest + WINDOW_MS - now;
  }

  /** Milliseconds before the next start: 0 after the first failure, then doubling. */
  get waitMs(): number {
    if (this.#failures < 2) return 0;
    return Math.min(FIRST_WAIT_MS * 2 ** (this.#failures - 2), LONGEST_WAIT_MS);
  }

  noteStart(now: number): void {
    this.#starts.push(now);
  }

  /** The last start was only a probe and doesn't count. */
  forgetStart(): void {
    this.#starts.pop();
  }

  /** It was stopped because it was idle, so the next start doesn't count against it. */
  forget(): void {
    this.#starts = [];
    this.#failures = 0;
  }

  /** `failed`: the child exited, or never started, without answering anything. */
  noteEnd(life: 'worked' | 'failed'): void {
    this.#failures = life === 'worked' ? 0 : this.#failures + 1;
  }
}
