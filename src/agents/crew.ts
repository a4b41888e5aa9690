// All that runs of agents take, put together: reading files, giving servers, the engine. Each part is
// loaded with the first run, so that a host that only lists tools does not wait for it.
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import type { Catalog } from '../pool/catalog.ts';
import type { Pool } from '../pool/pool.ts';
import type { StartChild } from '../pool/starter.ts';
import type { Agent, ListedAgent } from './agent.ts';
import type { OpenCodex } from './codex/engine.ts';
import type { UserConfig } from './codex/user-config.ts';
import { codexHomeOf } from './codex-home.ts';
import { Runs } from './runs.ts';
import type { AgentServers } from './servers/agent-servers.ts';

export interface CrewParts {
  /** As it is now. */
  readonly config: () => Config;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly pool: Pool;
  readonly catalog: Catalog;
  readonly start: StartChild;
  /** The program that runs now, as it was started, where that is known. */
  readonly program: string | undefined;
  /** What marks our processes, so that a later run finds what a killed one left. */
  readonly mark: Readonly<Record<string, string>>;
  readonly onProcess: (pid: number) => void;
  /** Told which folders a later run is to remove, if they are empty, should this one be killed. */
  readonly onLitter: (folders: readonly string[]) => void;
}

export class Crew implements AsyncDisposable {
  readonly runs: Runs;
  readonly #parts: CrewParts;
  #servers: AgentServers | undefined;
  /** One for all runs: they must not meet in a folder, nor tidy up after each other. */
  #codex: Promise<OpenCodex> | undefined;

  constructor(parts: CrewParts) {
    this.#parts = parts;
    this.runs = new Runs({
      settings: () => parts.config().agents,
      log: parts.log,
      load: (agent) => this.load(agent),
      equip: async (agent, cancellation) => (await this.servers()).serversFor(agent, cancellation),
      openEngine: async () => {
        this.#codex ??= this.#createCodex();
        return (await this.#codex)();
      },
    });
  }

  /** An agent as its file is now. */
  async load(agent: ListedAgent): Promise<Agent> {
    const { loadAgent } = await import('./load.ts');
    const { agents: settings, project, homeFolder } = this.#parts.config();
    const usersProvider = async () => (await this.#readUserConfig()).modelProvider;
    return loadAgent(agent, { settings, project, homeFolder, usersProvider });
  }

  /** The servers there are for agents. */
  async servers(): Promise<AgentServers> {
    const { AgentServers } = await import('./servers/agent-servers.ts');
    const { homeFolder } = this.#parts.config();
    const program = realPath(this.#parts.program);
    this.#servers ??= new AgentServers({ ...this.#parts, homeFolder, program });
    return this.#servers;
  }

  /** Where the engine is. Throws what says how to get one. */
  async findEngine(): Promise<string> {
    const { locateEngine } = await import('./codex/locate.ts');
    const { agents, project } = this.#parts.config();
    return locateEngine({ codexBin: agents.codexBin, project, env: this.#parts.env });
  }

  /** A warning for an agent whose model the engine does not know; none where there is no engine to ask. */
  async warningsAboutModel({ file, run }: Agent): Promise<string[]> {
    if (run.model === undefined) return [];
    const { env, config, onProcess } = this.#parts;
    const { home, homeFolder, agents: settings } = config();
    const { knowsModel, unknownModel } = await import('./codex/catalog.ts');
    const codexHome = codexHomeOf({ settings, env, homeFolder });
    const binary = await this.findEngine().catch(() => undefined);
    const folder = join(home, 'cache', 'engine');
    if (binary === undefined) return [];
    const isKnown = await knowsModel(run.model, { binary, env, folder, codexHome, onProcess });
    return isKnown ? [] : [`${file}: ${unknownModel(run.model)}`];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.runs[Symbol.asyncDispose](), this.#servers?.[Symbol.asyncDispose]()]);
  }

  async #readUserConfig(): Promise<UserConfig> {
    const { readUserConfig } = await import('./codex/user-config.ts');
    const { agents: settings, homeFolder } = this.#parts.config();
    return readUserConfig(codexHomeOf({ settings, env: this.#parts.env, homeFolder }));
  }

  async #createCodex(): Promise<OpenCodex> {
    const { createCodexEngine } = await import('./codex/engine.ts');
    const { config } = this.#parts;
    const { project, home, homeFolder } = config();
    const settings = () => config().agents;
    return createCodexEngine({ ...this.#parts, settings, project, home, homeFolder });
  }
}

function realPath(program: string | undefined): string | undefined {
  try {
    return program === undefined ? undefined : realpathSync(program);
  } catch {
    return program; // replaced while it runs: what it was started as is all there is
  }
}
