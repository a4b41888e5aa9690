// What holds for agents: where their files are, how they are shown, what they may use, how they are run.
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { AgentSettings } from '../config.ts';
import { expandHome } from '../files/globs.ts';
import type { Folders } from '../files/places.ts';
import { AGENT_KEYS, type AgentValues } from './agent-keys.ts';
import { NOTHING_SAID, type SaidPlaces, type Setting, said, saidInToml } from './said.ts';

export function resolveAgents(folders: Folders, places: SaidPlaces = NOTHING_SAID): AgentSettings {
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
  } = readAll(places);
  const absolute = (path: string) => resolve(project, expandHome(path, homeFolder));
  const pathOf = (path: string | undefined) => (path === undefined ? undefined : absolute(path));
  const foldersOf = (
    instead: readonly string[] | undefined,
    { tomlAdds, kind }: Setting<readonly string[]>,
    usual: readonly string[],
  ) => {
    const added = saidInToml(tomlAdds, kind, places) ?? [];
    const named = instead ?? added;
    const all = instead ?? [...usual, ...added];
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
    // A name alone is looked for on the PATH.
    codexBin: /[/\\]/.test(values.codexBin ?? '') ? pathOf(values.codexBin) : values.codexBin,
    codexHome: pathOf(values.codexHome),
    maxRuns: values.maxRuns ?? availableParallelism(),
    depth: depthOf(places),
  };
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

function readAll(places: SaidPlaces): AgentValues {
  const settings: Readonly<Record<string, Setting<unknown>>> = AGENT_KEYS;
  const values = Object.entries(settings).map(([key, setting]) => [
    key,
    said(key, setting, places) ?? setting.standard,
  ]);
  return Object.fromEntries(values) as AgentValues;
}

/** How many Switchboards there are above this one: each tells those below it. */
function depthOf({ env, warn }: SaidPlaces): number {
  const { SWITCHBOARD_DEPTH: text } = env;
  if (!text?.trim()) return 0;
  if (/^\d{1,6}$/.test(text.trim())) return Number(text);
  warn('SWITCHBOARD_DEPTH must be a whole number of at least 0; what it says is ignored.');
  return 0;
}
