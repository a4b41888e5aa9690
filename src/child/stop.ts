// Ending a child and whatever it has started, in three steps, each with time to act on it: the end of
// its input, which well-behaved servers take for the end, then SIGTERM, then SIGKILL.
import { isGroupAlive, signalGroup } from '../base/process.ts';
import { isGroupDead } from '../base/process-table.ts';
import { waitUntil } from '../base/time.ts';

export interface StoppableGroup {
  readonly leader: number;
  readonly closeInput: () => void;
  /** Whether the leader itself has exited; others of its group may still run then. */
  readonly hasExited: () => boolean;
}

export async function stopGroup(group: StoppableGroup, graceMs: number): Promise<void> {
  const { leader, closeInput, hasExited } = group;
  closeInput();
  // What a leader that has left leaves behind does not listen to our stdin: no need to wait for it.
  await waitUntil(() => hasExited() || !isGroupAlive(leader), graceMs);
  if (!isGroupAlive(leader) || (hasExited() && isGroupDead(leader))) return;
  signalGroup(leader, 'SIGTERM');
  await waitUntil(() => !isGroupAlive(leader), graceMs);
  if (!isGroupAlive(leader)) return;
  signalGroup(leader, 'SIGKILL');
  await waitUntil(() => !isGroupAlive(leader), graceMs);
}
