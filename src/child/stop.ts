// Stops a process and everything it started, with time to react after each step: close its input (well-behaved
// servers then exit), SIGTERM, SIGKILL.
import { isGroupAlive } from '../base/process.ts';
import { stopGroups } from '../base/stop-groups.ts';
import { waitUntil } from '../base/time.ts';

export interface StoppableGroup {
  readonly leader: number;
  readonly closeInput: () => void;
  /** Whether the leader has exited. Others in its group may still be running. */
  readonly hasExited: () => boolean;
}

export async function stopGroup(group: StoppableGroup, graceMs: number): Promise<void> {
  const { leader, closeInput, hasExited } = group;
  closeInput();
  // Only the leader reads our stdin, so once it has exited there's no point in waiting.
  await waitUntil(() => hasExited() || !isGroupAlive(leader), graceMs);
  await stopGroups([leader], graceMs);
}
