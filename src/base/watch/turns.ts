// Lets work of many sessions in one process run one piece at a time, with a chance for everything else in between.
import { settleWithin } from '../time.ts';

/** Others don't wait longer than this for one that hangs. */
const LONGEST_TURN_MS = 1_000;

export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the work when it's its turn. Rejects if it fails, which doesn't affect the others. */
  take(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(work);
    const settled = turn.catch(() => {}); // whoever took the turn gets the error
    this.#last = settleWithin(settled, LONGEST_TURN_MS).then(
      () => new Promise((resolve) => setImmediate(resolve)),
    );
    return turn;
  }
}
