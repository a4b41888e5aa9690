// Everything agent runs need, put together: file loading, servers, the engine. Each part is loaded with the first
// run, so a host that only lists tools doesn't wait for it.
import { realPathOf } from '../base/paths.ts';
import type { Config } from '../config/config.ts';
import type { Agent, ListedAgent } from './agent.ts';
import type { Engine, EngineParts } from './engine.ts';
import { openEngine } from './engines.ts';
import { Runs } from './runs.ts';
import type { AgentServers, AgentServersParts } from './servers/agent-servers.ts';
import type { EnumeratorParts } from './servers/enumerator.ts';

export interface CrewParts
  extends EnumeratorParts,
    Omit<EngineParts, 'settings' | 'project' | 'home' | 'homeFolder' | 'isOurs'> {
  /** The current configuration. */
  readonly config: () => Config;
  /** The path this program was started with, if known. */
  readonly program: string | undefined;
  readonly secretLookup: AgentServersParts['secretLookup'];
  readonly relaunch?: AgentServersParts['relaunch'];
}

export class Crew implements AsyncDisposable {
  readonly runs: Runs;
  readonly #parts: CrewParts;
  #servers: AgentServers | undefined;
  /** One for all runs: they share a start gate, and clean up after each other. */
  #engine: Promise<Engine> | undefined;

  constructor(parts: CrewParts) {
    this.#parts = parts;
    this.runs = new Runs({
      settings: () => parts.config().agents,
      log: parts.log,
      load: (agent) => this.load(agent),
      equip: async (agent, cancellation) => (await this.servers()).serversFor(agent, cancellation),
      engine: () => this.engine(),
    });
  }

  engine(): Promise<Engine> {
    const { config } = this.#parts;
    this.#engine ??= this.#openEngine(config());
    return this.#engine;
  }

  async #openEngine({ project, home, homeFolder, gate }: Config): Promise<Engine> {
    const { config } = this.#parts;
    const settings = () => config().agents;
    await gate?.open();
    // A program that came with the repository is never the engine.
    const isOurs = (program: string) =>
      gate === undefined || ['user', 'yours'].includes(gate.originOf(program));
    return openEngine({ ...this.#parts, settings, project, home, homeFolder, isOurs });
  }

  /** Reads the agent's file as it is now. */
  async load(agent: ListedAgent): Promise<Agent> {
    const { loadAgent } = await import('./load.ts');
    const { agents: settings, project, homeFolder, gate } = this.#parts.config();
    const engine = await this.engine();
    return loadAgent(agent, { settings, project, homeFolder, engine, gate });
  }

  async servers(): Promise<AgentServers> {
    const { AgentServers } = await import('./servers/agent-servers.ts');
    const { homeFolder } = this.#parts.config();
    const { program: path } = this.#parts;
    const program = path === undefined ? undefined : realPathOf(path);
    const engine = await this.engine();
    this.#servers ??= new AgentServers({ ...this.#parts, homeFolder, program, engine });
    return this.#servers;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.runs[Symbol.asyncDispose](), this.#servers?.[Symbol.asyncDispose]()]);
  }
}
