// Which program runs agents, with which home and which of the user's own servers, is the user's decision. So is
// declining what the engine asks. A project's file can't change it, even if it's approved.
import type { Layer } from '../files/layers.ts';

type AgentKeys = Readonly<Record<string, unknown>>;

const USERS_KEYS = ['codexBin', 'codexHome', 'vscodeUserMcp'];

/** The `agents` of each main file, highest precedence first, without keys that only count in the user's own. */
export function agentFiles(
  layers: readonly Layer[],
  isProjects: (file: string) => boolean,
  warn: (sentence: string) => void,
): AgentKeys[] {
  const all = layers.map(({ file, config }) => ({
    file,
    keys: (config.agents ?? {}) as AgentKeys,
  }));
  const users = all.filter(({ file }) => !isProjects(file));
  const isDeclining =
    users.find(({ keys }) => keys['approvals'] !== undefined)?.keys['approvals'] === 'decline';
  return all.map(({ file, keys }) => {
    if (!isProjects(file)) return keys;
    const isIgnored = (key: string) =>
      USERS_KEYS.includes(key) || (key === 'approvals' && isDeclining && keys[key] !== 'decline');
    const ignored = Object.keys(keys).filter((key) => keys[key] !== undefined && isIgnored(key));
    for (const key of ignored) {
      warn(`${file}: agents.${key} is ignored here. It only counts in your own configuration.`);
    }
    return ignored.length === 0
      ? keys
      : Object.fromEntries(Object.entries(keys).filter(([key]) => !ignored.includes(key)));
  });
}
