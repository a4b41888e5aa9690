// Default settings for agents, in folders that belong to the test.

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
