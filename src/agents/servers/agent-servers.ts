// Everything about the servers of agents in one place: where they are declared, what they have, who
// gets which.
import type { Cancellation } from '../../base/cancellation.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { createMask } from '../../base/secrets.ts';
import type { Config } from '../../config/config.ts';
import type { Agent } from '../agent.ts';
import { environmentBelow } from '../depth.ts';
import type { AttachedServer } from '../engine.ts';
import { type AttachOptions, attachServer, secretsOf } from './attach.ts';
import { type Candidates, mergeCandidates } from './candidate.ts';
import { chooseServers } from './choose.ts';
import { discoverServers } from './discover.ts';
import { Enumerator, type EnumeratorParts } from './enumerator.ts';
import { explainLack } from './explain.ts';
import { ownServers } from './own.ts';
import { distinctKey } from './plain-key.ts';
import { environmentOfSelf } from './self-environment.ts';

export interface AgentServersParts extends EnumeratorParts {
  /** As it is now. */
  readonly config: () => Config;
  /** What `~` stands for. */
  readonly homeFolder: string;
  readonly env: NodeJS.ProcessEnv;
  /** The real path of the program that runs now, where that is known. */
  readonly program: string | undefined;
}

export interface GivenServers {
  readonly servers: readonly AttachedServer[];
  /** Where each is declared, by the key that it has here. */
  readonly origins: ReadonlyMap<string, string>;
  /** Sentences that name the agent's file. */
  readonly warnings: readonly string[];
  /** What the agent goes without because something is wrong at the moment: sentences of their own. */
  readonly lacks: readonly string[];
}

export class AgentServers implements AsyncDisposable {
  readonly #parts: AgentServersParts;
  readonly #enumerator: Enumerator;

  constructor(parts: AgentServersParts) {
    this.#parts = parts;
    this.#enumerator = new Enumerator(parts);
  }

  /** All that agents can be given, and what was wrong with the files. */
  async available(): Promise<Candidates> {
    const { config, homeFolder, env, program } = this.#parts;
    const { agents: settings, project } = config();
    const [own, discovered] = await Promise.all([
      ownServers(config(), env),
      discoverServers({ settings, project, homeFolder, env, program }),
    ]);
    return mergeCandidates(own, discovered);
  }

  /**
   * What one agent gets. Rejects with the reason of `cancellation`, and if a server that the agent requires
   * cannot be started as it is configured. `isQuiet`: as far as it is
   * known; no server is started to find it out. `isTried`: each that it gets is started once.
   */
  async serversFor(
    agent: Agent,
    cancellation: Cancellation,
    { isQuiet = false, isTried = false } = {},
  ): Promise<GivenServers> {
    const { config, homeFolder, env, program } = this.#parts;
    const { agents: settings, project, home } = config();
    const attach: AttachOptions = {
      project,
      homeFolder,
      env,
      environment: environmentBelow(settings),
      selfEnvironment: environmentOfSelf({ agents: settings, home }, env),
      program,
    };
    const available = await this.available();
    const secrets = new Set<string>();
    const choice = await chooseServers(agent, {
      settings,
      available,
      isTried,
      toolsOf: (server, { isFresh }) => {
        // What it says when it does not start may hold them.
        for (const secret of secretsOf(server, attach)) secrets.add(secret);
        const { mcpEnumTimeoutMs: limitMs } = settings;
        const options = { ...attach, limitMs, cancellation, isFresh, isQuiet };
        return this.#enumerator.tools(server, options);
      },
    });
    cancellation.throwIfCancelled();
    const servers: AttachedServer[] = [];
    const origins = new Map<string, string>();
    const lacks = [...choice.lacks];
    for (const { server, enabledTools } of choice.servers) {
      try {
        const attached = attachServer(server, enabledTools, attach);
        const key = distinctKey(server.key, origins);
        origins.set(key, server.origin);
        servers.push({ ...attached, key });
      } catch (error) {
        if (!(error instanceof SwitchboardError) || server.isRequired) throw error;
        lacks.push(explainLack(server.key, error.text));
      }
    }
    const mask = createMask(secrets);
    return { servers, origins, warnings: choice.warnings.map(mask), lacks: lacks.map(mask) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#enumerator[Symbol.asyncDispose]();
  }
}
