// Resolves the settings for agents: where their files are, how they are shown, what they may use, how they run.
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { AgentSettings } from '../config.ts';
import { expandHome } from '../files/globs.ts';
import type { Layer } from '../files/layers.ts';
import type { Folders } from '../files/places.ts';
import { AGENT_KEYS, type AgentValues } from './agent-keys.ts';
import {
  NO_SOURCES,
  readFromToml,
  readSetting,
  type Setting,
  type SettingSources,
} from './sources.ts';

export function resolveAgents(
  folders: Folders,
  sources: SettingSources = NO_SOURCES,
): AgentSettings {
  const { project, home, homeFolder } = folders;
  const {
    enableCodex,
    enableAnthropic,
    enableVscode,
    prefixCodex,
    prefixAnthropic,
    prefixVscode,
    dirs,
    anthropicDirs,
    vscodeChatmodesDirs,
    ...values
  } = readAll(sources);
  const absolute = (path: string) => resolve(project, expandHome(path, homeFolder));
  const pathOf = (path: string | undefined) => (path === undefined ? undefined : absolute(path));
  const foldersOf = (
    replacement: readonly string[] | undefined,
    { tomlAdds, kind }: Setting<readonly string[]>,
    usual: readonly string[],
  ) => {
    const added = readFromToml(tomlAdds, kind, sources) ?? [];
    const named = replacement ?? added;
    const all = replacement ?? [...usual, ...added];
    return { folders: distinct(all.map(absolute)), namedFolders: distinct(named.map(absolute)) };
  };
  return {
    ...values,
    formats: {
      codex: {
        isOn: enableCodex,
        ...foldersOf(dirs, AGENT_KEYS.dirs, [
          '.agents',
          join(home, 'agents'),
          join(homeFolder, '.agents'),
        ]),
        prefix: prefixCodex,
      },
      anthropic: {
        isOn: enableAnthropic,
        ...foldersOf(anthropicDirs, AGENT_KEYS.anthropicDirs, [
          join('.claude', 'agents'),
          join(home, 'agents'),
          join(homeFolder, '.claude', 'agents'),
        ]),
        prefix: prefixAnthropic,
      },
      vscode: {
        isOn: enableVscode,
        ...foldersOf(vscodeChatmodesDirs, AGENT_KEYS.vscodeChatmodesDirs, [
          join('.github', 'chatmodes'),
          join(home, 'chatmodes'),
          join(homeFolder, '.chatmodes'),
        ]),
        prefix: prefixVscode,
      },
    },
    vscodeUserMcp: pathOf(values.vscodeUserMcp),
    modelMapFile: absolute(values.modelMapFile ?? join('.agents', 'model-map.toml')),
    // A plain name is looked up on the PATH.
    codexBin: /[/\\]/.test(values.codexBin ?? '') ? pathOf(values.codexBin) : values.codexBin,
    codexHome: pathOf(values.codexHome),
    maxRuns: values.maxRuns ?? availableParallelism(),
    depth: depthOf(sources),
  };
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

function readAll(sources: SettingSources): AgentValues {
  const settings: Readonly<Record<string, Setting<unknown>>> = AGENT_KEYS;
  const values = Object.entries(settings).map(([key, setting]) => [
    key,
    readSetting(key, setting, sources) ?? setting.default,
  ]);
  return Object.fromEntries(values) as AgentValues;
}

/** How deeply this Switchboard is nested in others: each process passes its depth to those it starts. */
function depthOf({ env, warn }: SettingSources): number {
  const { SWITCHBOARD_DEPTH: text } = env;
  if (!text?.trim()) return 0;
  if (/^\d{1,6}$/.test(text.trim())) return Number(text);
  warn('SWITCHBOARD_DEPTH must be a whole number of at least 0. Its value is ignored.');
  return 0;
}

// Which program runs agents, with which home, and which of the user's own servers they get, is the user's decision. So
// is declining what the engine asks. A project's file can't change it, even if it's approved.
type AgentKeys = Readonly<Record<string, unknown>>;

const USERS_KEYS = new Set(['codexBin', 'codexHome', 'vscodeUserMcp']);

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
      USERS_KEYS.has(key) || (key === 'approvals' && isDeclining && keys[key] !== 'decline');
    const ignored = Object.keys(keys).filter((key) => keys[key] !== undefined && isIgnored(key));
    for (const key of ignored) {
      warn(`${file}: agents.${key} is ignored here. Set it in your own configuration.`);
    }
    return ignored.length === 0
      ? keys
      : Object.fromEntries(Object.entries(keys).filter(([key]) => !ignored.includes(key)));
  });
}
