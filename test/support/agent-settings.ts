// Settings for agents as they are where nobody has said anything, in folders of a test's own.

import type { AgentSettings } from '../../src/config/config.ts';
import type { Folders } from '../../src/config/files/places.ts';
import { resolveAgents } from '../../src/config/settings/agents.ts';

/** For tests that are about servers. */
export const noAgents = {
  listed: [],
  run: () => Promise.reject(new Error('There are no agents.')),
};

const NOWHERE: Folders = { project: '/nowhere/p', home: '/nowhere/h', homeFolder: '/nowhere/u' };

export function agentSettings(
  said: Partial<AgentSettings> = {},
  folders: Folders = NOWHERE,
): AgentSettings {
  return { ...resolveAgents(folders), ...said };
}
