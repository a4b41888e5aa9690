// Tracks how deeply Switchboard processes are nested: each passes its depth to those it starts.
import type { AgentSettings } from '../config/config.ts';

/** At this depth Switchboard runs no agents: they could start each other forever. */
export const DEEPEST = 3;

export function environmentBelow({ depth }: Pick<AgentSettings, 'depth'>): Record<string, string> {
  return { SWITCHBOARD_DEPTH: String(depth + 1) };
}
