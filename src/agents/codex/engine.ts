// Codex as the engine for agents: what the rest of the program asks of it. A run is in `run.ts`.
import { join } from 'node:path';
import type { AgentSettings } from '../../config/config.ts';
import type { RunFields } from '../agent.ts';
import type { Engine } from '../engine.ts';
import { knowsModel, unknownModel } from './catalog.ts';
import { codexHomeOf } from './home.ts';
import { Litter } from './litter.ts';
import { locateCodex } from './locate.ts';
import { MODEL_TABLE } from './model-table.ts';
import { type CodexOptions, CodexRun } from './run.ts';
import { StartGate } from './start-gate.ts';
import { readUserConfig } from './user-config.ts';

export function createCodexEngine(options: CodexOptions): Engine {
  const { project, env, home, homeFolder, settings, onProcess } = options;
  const litter = new Litter(options.onLitter);
  const gate = new StartGate();
  const { isOurs } = options;
  const locate = () => locateCodex({ codexBin: settings().codexBin, project, env, isOurs });
  const codexHome = () => codexHomeOf({ settings: settings(), env, homeFolder });
  return {
    name: 'Codex',
    models: MODEL_TABLE,
    locate,
    run: async (run) => new CodexRun(run, run.program ?? locate(), options).toEnd(gate, litter),
    configuredProvider: async () => (await readUserConfig(codexHome())).modelProvider,
    check: async ({ model }: RunFields) => {
      const binary = located(locate);
      if (model === undefined || binary === undefined) return [];
      const folder = join(home, 'cache', 'engine');
      const about = { binary, env, folder, codexHome: codexHome(), onProcess };
      return (await knowsModel(model, about)) ? [] : [unknownModel(model)];
    },
    serversFile: () => join(codexHome(), 'config.toml'),
    variables: () => variablesBelow(settings(), env),
  };
}

function located(locate: () => string): string | undefined {
  try {
    return locate();
  } catch {
    return undefined; // a run explains how to install it
  }
}

/** Only those set in our own environment, with absolute paths: the nested one may run elsewhere. */
function variablesBelow(
  { codexBin, codexHome }: AgentSettings,
  env: NodeJS.ProcessEnv,
): Record<string, string> {
  const values = {
    SWITCHBOARD_CODEX_BIN: codexBin,
    AGENTS_CODEX_HOME: codexHome,
    CODEX_HOME: env['CODEX_HOME'],
  };
  const isSet = ([name, value]: [string, string | undefined]): boolean =>
    Boolean(env[name]) && value !== undefined;
  return Object.fromEntries(Object.entries(values).filter(isSet)) as Record<string, string>;
}
