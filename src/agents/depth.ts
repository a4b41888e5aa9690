// How deep below other Switchboards one is, and what those below it are told.
import type { AgentSettings } from '../config/config.ts';

/** A Switchboard so deep below others runs no agents: it would go on for ever. */
export const DEEPEST = 3;

/** What tells Switchboards that a run starts how deep they are. */
export function environmentBelow({ depth }: Pick<AgentSettings, 'depth'>): Record<string, string> {
  return { SWITCHBOARD_DEPTH: String(depth + 1) };
}
