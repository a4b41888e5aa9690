// The entry point of this folder: finds the servers that are available to agents, and chooses those an agent gets.
import type { Cancellation } from '../../base/cancellation.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { createMask } from '../../base/secrets.ts';
import type { Config } from '../../config/config.ts';
import { secretReferences } from '../../config/server/expand.ts';
import type { SecretLookup } from '../../trust/secrets/lookup.ts';
import type { Agent, AgentServer } from '../agent.ts';
import { environmentBelow } from '../depth.ts';
import type { AttachedServer, Engine } from '../engine.ts';
import { type AttachOptions, attachServer, serverSecrets } from './attach.ts';
import { type BindRules, bindAll, createBindRules } from './bind.ts';
import { type Candidates, distinctKey, mergeCandidates } from './candidate.ts';
import { type ChosenServer, chooseServers } from './choose.ts';
import { bindSandbox, confineServer } from './confine-server.ts';
import { discoverServers } from './discover.ts';
import { Enumerator, type EnumeratorParts } from './enumerator.ts';
import { explainLack } from './explain.ts';
import { guardServer, needsGuard, type Relaunch } from './guard.ts';
import { ownServers } from './own.ts';
import { askServer, type ToolsAnswer, type ToolsOf } from './proof.ts';

export interface AgentServersParts extends EnumeratorParts {
  /** The current configuration. */
  readonly config: () => Config;
  /** What `~` expands to. */
  readonly homeFolder: string;
  readonly env: NodeJS.ProcessEnv;
  /** This program's real path, if known. */
  readonly program: string | undefined;
  readonly engine: Pick<Engine, 'variables'>;
  /** Starts this program again; undefined if that's impossible. */
  readonly relaunch?: Relaunch | undefined;
  /** Looks up secrets that our own servers refer to. */
  readonly secretLookup: () => Promise<Pick<SecretLookup, 'variablesFor'>>;
}

export interface GivenServers {
  readonly servers: readonly AttachedServer[];
  /** The file that declares each, by key. */
  readonly origins: ReadonlyMap<string, string>;
  /** Sentences that name the agent's file. */
  readonly warnings: readonly string[];
  /** Tools and servers that are missing because of a current problem: complete sentences. */
  readonly lacks: readonly string[];
}

export class AgentServers implements AsyncDisposable {
  readonly #parts: AgentServersParts;
  readonly #enumerator: Enumerator;

  constructor(parts: AgentServersParts) {
    this.#parts = parts;
    this.#enumerator = new Enumerator(parts);
  }

  /** All servers for agents, and problems with the files. */
  async available(): Promise<Candidates> {
    const { config, homeFolder, env, program } = this.#parts;
    const { agents: settings, project, gate } = config();
    const [own, discovered] = await Promise.all([
      ownServers(config(), env),
      discoverServers({ settings, project, homeFolder, env, program, gate }),
    ]);
    return mergeCandidates(own, bindAll(discovered, this.#bind()));
  }

  #bind(): BindRules {
    const { config, env, homeFolder } = this.#parts;
    return createBindRules(config(), { env, homeFolder });
  }

  /**
   * The servers one agent gets. Rejects if cancelled, and if a server the agent requires can't be started as
   * configured. `isQuiet`: use only known tool lists, start no server. `isTried`: start each server once.
   */
  async serversFor(
    agent: Agent,
    cancellation: Cancellation,
    { isQuiet = false, isTried = false } = {},
  ): Promise<GivenServers> {
    const { config, homeFolder, env, program, engine, relaunch } = this.#parts;
    const { agents: settings, project, home, children, toolChanges, hooks } = config();
    const attach: AttachOptions = {
      project,
      homeFolder,
      env,
      environment: environmentBelow(settings),
      toolChanges,
      selfEnvironment: {
        ...(env['SWITCHBOARD_HOME'] && { SWITCHBOARD_HOME: home }),
        ...engine.variables(),
      },
      program,
    };
    const available = await this.available();
    const secrets = new Set<string>();
    const { mcpEnumTimeoutMs: limitMs } = settings;
    const toolsOf: ToolsOf = (offered, { isFresh }) => {
      const server = bindSandbox(offered, config(), { env, homeFolder });
      // Its error may quote them if it fails to start.
      for (const secret of serverSecrets(server, attach)) secrets.add(secret);
      const options = { ...attach, limitMs, cancellation, isFresh, isQuiet };
      return this.#enumerator.tools(server, options);
    };
    const bind = this.#bind();
    const choice = await chooseServers(agent, { settings, available, isTried, bind, toolsOf });
    const usableTools = async ({ server, enabledTools }: ChosenServer) => {
      const own = server.isOwn ? children.get(server.key) : undefined;
      if ((own ?? { toolChanges }).toolChanges === 'hold') {
        return allowed(enabledTools, await askServer(server, toolsOf, { isFresh: true }));
      }
      const held = this.#enumerator.refused(server, attach);
      if (held.length === 0) return enabledTools;
      if (enabledTools) return enabledTools.filter((tool) => !held.includes(tool));
      return allowed(undefined, await askServer(server, toolsOf));
    };
    cancellation.throwIfCancelled();
    const servers: AttachedServer[] = [];
    const origins = new Map<string, string>();
    const lacks = [...choice.lacks];
    for (const chosen of choice.servers) {
      const server = bindSandbox(chosen.server, config(), { env, homeFolder });
      try {
        const variables = await this.#variablesFor(server);
        const tools = await usableTools(chosen);
        const plain = attachServer(server, tools, { ...attach, env: variables });
        const confined = await confineServer(plain, server, { project, homeFolder, home, env });
        const attached = needsGuard(server, hooks)
          ? guardServer(confined, server, { relaunch, project, home, env })
          : confined;
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

  /** The environment, and the secrets that one of our own servers refers to. */
  async #variablesFor({ key, origin }: AgentServer): Promise<NodeJS.ProcessEnv> {
    const { config, env, secretLookup } = this.#parts;
    const own = config().children.get(key);
    if (own?.origin !== origin || secretReferences(own).length === 0) return env;
    return (await secretLookup()).variablesFor(own);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#enumerator[Symbol.asyncDispose]();
  }
}

/** The tools an agent may use of those that aren't held. Throws if they are unknown: the engine lists them itself. */
function allowed(
  enabledTools: readonly string[] | undefined,
  answer: ToolsAnswer,
): readonly string[] {
  if ('tools' in answer) {
    return enabledTools?.filter((tool) => answer.tools.includes(tool)) ?? answer.tools;
  }
  throw new SwitchboardError('TOOL_HELD', `Its tools couldn't be checked. ${answer.problem}`);
}
