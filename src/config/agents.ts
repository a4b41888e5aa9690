// What holds for agents: where their files are, how they are shown, what they may use, how they are run.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { AgentSettings } from './config.ts';
import type { Folders } from './places.ts';

export function resolveAgents({ project, home, homeFolder }: Folders): AgentSettings {
  return {
    show: 'direct',
    formats: {
      codex: {
        isOn: true,
        folders: [join(project, '.agents'), join(home, 'agents'), join(homeFolder, '.agents')],
        prefix: 'agent_',
      },
      anthropic: {
        isOn: true,
        folders: [
          join(project, '.claude', 'agents'),
          join(home, 'agents'),
          join(homeFolder, '.claude', 'agents'),
        ],
        prefix: 'anth_',
      },
      vscode: {
        isOn: true,
        folders: [
          join(project, '.github', 'chatmodes'),
          join(home, 'chatmodes'),
          join(homeFolder, '.chatmodes'),
        ],
        prefix: 'vsc_',
      },
    },
    extraFormats: false,
    filter: [],
    mcpDiscovery: true,
    vscodeUserMcp: undefined,
    mcpLimitReferenced: true,
    mcpEnumerate: true,
    mcpEnumTimeoutMs: 4_000,
    mcpMaxServers: 128,
    mcpEnumStrict: false,
    mcpEnumFallback: 'none',
    mcpToolFilter: false,
    toolmapEnable: true,
    toolmapAllowCustomServers: true,
    modelMapEnable: true,
    modelMapFile: join(project, '.agents', 'model-map.toml'),
    modelMapStrict: false,
    modelMapOverrideProvider: false,
    modelMapNormalizeProvider: true,
    builtinsDefault: 'off',
    skipSelf: true,
    codexBin: undefined,
    codexHome: undefined,
    approvals: 'ask',
    timeoutMs: 30 * 60_000,
    maxRuns: availableParallelism(),
    outputMaxChars: 1_000_000,
    depth: 0,
  };
}
