// Stops process groups: SIGTERM, time to act on it, then SIGKILL for whatever is left.
import { isGroupAlive, signalGroup } from './process.ts';
import { isGroupDead } from './process-table.ts';
import { waitUntil } from './time.ts';

/** Reading the process table takes milliseconds with many processes. */
const SCAN_MS = 200;

/** Resolves when the groups are gone, at the latest `graceMs` after SIGKILL. */
export async function stopGroups(leaders: readonly number[], graceMs: number): Promise<void> {
  const left = await signalAndWait(leaders, 'SIGTERM', graceMs);
  await signalAndWait(left, 'SIGKILL', graceMs);
}

/** For what remains of a program that has done its work. */
export async function killGroup(leader: number, graceMs: number): Promise<void> {
  await signalAndWait([leader], 'SIGKILL', graceMs);
}

/** Returns the groups that are still running after the wait. */
async function signalAndWait(
  leaders: readonly number[],
  signal: 'SIGTERM' | 'SIGKILL',
  graceMs: number,
): Promise<readonly number[]> {
  let left = leaders.filter(isGroupAlive);
  for (const leader of left) signalGroup(leader, signal);
  let nextScan = 0;
  await waitUntil(() => {
    left = left.filter(isGroupAlive);
    // If nothing reaps an orphan, its group continues to exist.
    if (left.length > 0 && performance.now() >= nextScan) {
      left = left.filter((leader) => !isGroupDead(leader));
      nextScan = performance.now() + SCAN_MS;
    }
    return left.length === 0;
  }, graceMs);
  return left;
}
