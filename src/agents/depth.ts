// How deep this Switchboard is nested in others, and how it passes that on.
import type { AgentSettings } from '../config/config.ts';

/** At this depth Switchboard runs no agents: they could start each other forever. */
export const DEEPEST = 3;

export function environmentBelow({ depth }: Pick<AgentSettings, 'depth'>): Record<string, string> {
  return { SWITCHBOARD_DEPTH: String(depth + 1) };
}
