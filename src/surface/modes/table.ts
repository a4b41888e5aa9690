// All modes. To add one, add a file next to these, a line here, and a value of `show` to the configuration.
import type { ChildConfig, Show } from '../../config/config.ts';
import type { ToolDemand } from '../../pool/slot.ts';
import { direct } from './direct.ts';
import { flip } from './flip.ts';
import type { ShowMode } from './mode.ts';
import { off } from './off.ts';
import { suite } from './suite.ts';

export const MODES: Readonly<Record<Show, ShowMode>> = { suite, flip, direct, off };

export function modeOf({ show }: Pick<ChildConfig, 'show'>): ShowMode {
  return MODES[show];
}

const ALL = Object.values(MODES);

/** Whether a tool name belongs to a mode, so that no server or agent can have it. */
export function isReservedName(toolName: string): boolean {
  return ALL.some((mode) => mode.reserves?.(toolName));
}

/** How much hosts depend on a server's tool list, for the pool. */
export function toolDemandOf(config: Pick<ChildConfig, 'show' | 'readOnlyTool'>): ToolDemand {
  const { ownTools, needsTools } = modeOf(config);
  if (needsTools) return 'required';
  return ownTools !== 'never' || config.readOnlyTool ? 'shown' : 'none';
}
