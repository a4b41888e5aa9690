// Starting many children beside everything else: a few at a time while starts are work, since each is work
// for a core, and more where they mostly wait, for a timer or the network.
import { availableParallelism } from 'node:os';
import { soon } from '../base/time.ts';

export interface WarmUpOptions {
  /** Starts one; never rejects. */
  readonly start: (name: string) => Promise<void>;
  /** How many of the processes that we have started are working; undefined where nobody can tell. */
  readonly countWorking: () => Promise<number | undefined>;
}

/** So many starts are made at once as long as they are work. */
const MOST_WORKING = Math.max(8, 2 * availableParallelism());
/** So many are under way at once, however little they do. */
const MOST_UNDERWAY = 4 * MOST_WORKING;
/** A start that takes longer is waiting for something rather than working, also where nobody can tell. */
const WORK_OF_START_MS = 2_000;
const LOOK_MS = 100;

/** Starts all of them in order; resolves when all have started or failed. */
export async function warmUp(
  names: Iterable<string>,
  { start, countWorking }: WarmUpOptions,
): Promise<void> {
  const underway = new Set<Promise<void>>();
  /** The starts that others wait for. */
  const turns = new Set<Promise<void>>();
  for (const name of names) {
    while (turns.size >= MOST_WORKING) {
      await soon(Promise.race(turns), LOOK_MS);
      if (turns.size < MOST_WORKING || underway.size >= MOST_UNDERWAY) continue;
      const working = await countWorking();
      const idle = working === undefined ? 0 : MOST_WORKING - working;
      for (const turn of [...turns].slice(0, Math.max(0, idle))) turns.delete(turn);
    }
    // Starting a process keeps us from everything else for milliseconds: others come in between.
    await new Promise((resolve) => setImmediate(resolve));
    const started = start(name).finally(() => underway.delete(started));
    underway.add(started);
    const turn = soon(started, WORK_OF_START_MS).finally(() => turns.delete(turn));
    turns.add(turn);
  }
  await Promise.all(underway);
}
