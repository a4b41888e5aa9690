// What to watch so that a session notices changes to its configuration and its agents.
import type { WatchedTree } from '../base/watch/survey.ts';
import type { Config } from '../config/config.ts';
import { configTrees, treeMaker } from '../config/files/watched.ts';
import { agentPlaces } from './places.ts';

/** For folders with nested agents. Deeper ones are found at the next start or reload. */
const DEEPEST = 4;

export function watchedTrees(config: Config, hasAgents: boolean): WatchedTree[] {
  const isLooking = hasAgents && config.agents.show !== 'off';
  return [...configTrees(config), ...(isLooking ? agentTrees(config) : [])];
}

function agentTrees(config: Config): WatchedTree[] {
  const tree = treeMaker(config);
  return agentPlaces(config.agents, config).map(({ folder, ending, except, isNested }) =>
    tree(folder, `agents ${ending}`, {
      depth: isNested ? DEEPEST : 0,
      isFile: (name) => name.toLowerCase().endsWith(ending) && except?.test(name) !== true,
      isFolder: (name) => !name.startsWith('.') && name !== 'node_modules',
    }),
  );
}
