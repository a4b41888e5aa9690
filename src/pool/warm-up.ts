// Starts many servers in the background: a few at a time while they keep cores busy, more when they mostly wait for
// a timer or the network.
import { availableParallelism } from 'node:os';
import { settleWithin } from '../base/time.ts';

export interface WarmUpOptions {
  /** Starts one; never rejects. */
  readonly start: (name: string) => Promise<void>;
  /** How many of our processes are busy; undefined if unknown. */
  readonly countWorking: () => Promise<number | undefined>;
}

/** Concurrent starts while they keep cores busy. */
const MOST_WORKING = Math.max(8, 2 * availableParallelism());
/** With this many concurrent starts, a turn ends only with its time. */
const MOST_UNDERWAY = 4 * MOST_WORKING;
/** A start that takes longer is assumed to be waiting, even if we can't measure it. */
const WORK_OF_START_MS = 2_000;
const LOOK_MS = 100;

/** Starts all of them in order; resolves when all have started or failed. */
export async function warmUp(
  names: Iterable<string>,
  { start, countWorking }: WarmUpOptions,
): Promise<void> {
  const underway = new Set<Promise<void>>();
  /** The starts that hold back others. */
  const turns = new Set<Promise<void>>();
  for (const name of names) {
    while (turns.size >= MOST_WORKING) {
      await settleWithin(Promise.race(turns), LOOK_MS);
      if (turns.size < MOST_WORKING || underway.size >= MOST_UNDERWAY) continue;
      const working = await countWorking();
      const idle = working === undefined ? 0 : MOST_WORKING - working;
      for (const turn of [...turns].slice(0, Math.max(0, idle))) turns.delete(turn);
    }
    // Starting a process blocks us for milliseconds, so let other work run in between.
    await new Promise((resolve) => setImmediate(resolve));
    const started = start(name).finally(() => underway.delete(started));
    underway.add(started);
    const turn = settleWithin(started, WORK_OF_START_MS).finally(() => turns.delete(turn));
    turns.add(turn);
  }
  await Promise.all(underway);
}
