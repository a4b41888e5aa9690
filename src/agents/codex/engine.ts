// Codex as the engine of agents: from an agent and a task to a process, a thread and a turn in it, and
// from what the engine tells of that turn to a result. Whatever way a run ends, nothing of it is left.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isObject } from '../../base/object.ts';
import { AGENT_MARK } from '../../base/orphans.ts';
import { withVariables } from '../../base/process.ts';
import { createMask, type Mask } from '../../base/secrets.ts';
import { excerpt } from '../../base/text.ts';
import { sleep } from '../../base/time.ts';
import { VERSION } from '../../base/version.ts';
import { type LinkEnd, LinkEnded } from '../../child/link.ts';
import type { AgentSettings } from '../../config/config.ts';
import { RpcError } from '../../rpc/message.ts';
import { codexHomeOf } from '../codex-home.ts';
import type { Engine, EngineResult, EngineRun } from '../engine.ts';
import { AppServer, type AppServerOptions } from './app-server.ts';
import { answerEngine } from './approvals.ts';
import { prepareCatalog } from './catalog.ts';
import { type EngineConfig, readEngineConfig } from './engine-config.ts';
import { describeNotification, textOf } from './events.ts';
import { failedServers } from './failed-servers.ts';
import { Litter } from './litter.ts';
import { locateEngine } from './locate.ts';
import { Refusals } from './refusals.ts';
import { StartGate } from './start-gate.ts';
import {
  namedServers,
  processArguments,
  sandboxOf,
  type ThreadWish,
  threadParameters,
  turnSandbox,
  wantsPatch,
} from './thread.ts';
import { Turn } from './turn.ts';
import { readUserConfig } from './user-config.ts';

export interface CodexEngineOptions {
  /** As they are now: a new configuration changes them. */
  readonly settings: () => AgentSettings;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  /** What is added to the environment so that a later Switchboard finds what a killed one left. */
  readonly mark: Readonly<Record<string, string>>;
  readonly onProcess: (pid: number) => void;
  /** Told which folders are to be removed, if they are empty, should we be killed. */
  readonly onLitter: (folders: readonly string[]) => void;
  readonly project: string;
  /** Switchboard's own folder. */
  readonly home: string;
  /** What `~` stands for. */
  readonly homeFolder: string;
  /** Milliseconds until the engine must have answered for the first time. */
  readonly initializeMs?: number | undefined;
}

const INITIALIZE_MS = 15_000;
const START_AGAIN_MS = 300;
/** What an engine that still listens needs to interrupt a turn, several times over. */
const INTERRUPT_MS = 600;
const LONGEST_REASON = 500;
/** In the log there may be more of it. */
const LONGEST_DETAILS = 4_000;
/** What is ours alone: those below us get none of it. */
const OUR_SECRETS = /^SWITCHBOARD_.*(?:TOKEN|KEY|SECRET)$/i;

/** Finds the program, and throws an ENGINE_MISSING if there is none. Called once for each run. */
export type OpenCodex = () => Engine;

export function createCodexEngine(options: CodexEngineOptions): OpenCodex {
  const litter = new Litter(options.onLitter);
  const gate = new StartGate();
  return () => {
    const { project, env, settings } = options;
    const binary = locateEngine({ codexBin: settings().codexBin, project, env });
    return { run: (run) => new CodexRun(run, binary, options).toEnd(gate, litter) };
  };
}

/** One run of an agent. */
class CodexRun {
  readonly #run: EngineRun;
  readonly #binary: string;
  readonly #options: CodexEngineOptions;
  readonly #settings: AgentSettings;
  readonly #turn: Turn;
  readonly #mark = { name: AGENT_MARK, value: randomUUID() };
  readonly #apiKey: string | undefined;
  readonly #secrets: readonly string[];
  readonly #mask: Mask;
  #refusals: Refusals | undefined;
  /** What `turn/interrupt` wants to know. */
  #running: { readonly threadId: string; readonly turnId: string } | undefined;

  constructor(run: EngineRun, binary: string, options: CodexEngineOptions) {
    const { env } = options;
    this.#run = run;
    this.#binary = binary;
    this.#options = options;
    this.#settings = options.settings();
    this.#turn = new Turn(this.#settings.outputMaxChars);
    this.#apiKey = env['CODEX_API_KEY'] || env['OPENAI_API_KEY'] || undefined;
    const keys = this.#apiKey === undefined ? [] : [this.#apiKey];
    this.#secrets = [...run.servers.flatMap(({ secrets }) => secrets), ...keys];
    this.#mask = createMask(this.#secrets);
  }

  async toEnd(gate: StartGate, litter: Litter): Promise<EngineResult> {
    const { cancellation, cwd, agent, onEvent } = this.#run;
    cancellation.throwIfCancelled();
    onEvent({ kind: 'starting', text: `starts ${agent.name}` });
    const server = await gate.pass(cancellation, () => this.#start());
    let cameToItsEnd = false;
    const leave = litter.enter(cwd);
    try {
      const result = await cancellation.orElse(this.#converse(server));
      cameToItsEnd = result.ok;
      return result;
    } finally {
      for (const text of this.#refusals?.sentences ?? []) onEvent({ kind: 'note', text });
      if (cancellation.reason) await this.#interrupt(server);
      await server.close();
      leave(cameToItsEnd);
    }
  }

  /**
   * Starts the engine and greets it; what is called off meanwhile is ended again. The first start lays out the
   * engine's folder, and where another program does so at the same time, one of the two ends at once: it is
   * started once more, when the other has had the time.
   */
  async #start(): Promise<AppServer> {
    const { cancellation } = this.#run;
    const options = await this.#prepare();
    try {
      return await this.#startOnce(options);
    } catch (error) {
      if (!(error instanceof SwitchboardError && error.cause instanceof LinkEnded)) throw error;
      await cancellation.orElse(sleep(START_AGAIN_MS));
      return this.#startOnce(options);
    }
  }

  async #startOnce(options: AppServerOptions): Promise<AppServer> {
    const { cancellation } = this.#run;
    cancellation.throwIfCancelled();
    const server = await AppServer.open(options);
    this.#options.onProcess(server.pid);
    try {
      await cancellation.orElse(server.initialize(VERSION));
      return server;
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  async #prepare(): Promise<AppServerOptions> {
    const { env, log, home, homeFolder, initializeMs = INITIALIZE_MS } = this.#options;
    const settings = this.#settings;
    const binary = this.#binary;
    const { run } = this.#run.agent;
    const codexHome = codexHomeOf({ settings, env, homeFolder });
    const user = await readUserConfig(codexHome);
    const engineEnv = this.#environment();
    const catalog = await prepareCatalog({
      binary,
      env: engineEnv,
      folder: join(home, 'cache', 'engine'),
      usersCatalog: user.modelCatalog,
      applyPatch: wantsPatch(run, settings.builtinsDefault),
      hasVerbosity: run.modelVerbosity !== undefined,
      model: run.model ?? user.model,
      cancellation: this.#run.cancellation,
      onProcess: this.#options.onProcess,
    });
    if (catalog.warning !== undefined) this.#warn(catalog.warning);
    const isKeyOurs = user.isSignedOut && this.#apiKey !== undefined;
    return {
      binary,
      args: processArguments({ run, catalogFile: catalog.file, isKeyOurs }),
      env: engineEnv,
      codexHome,
      mark: this.#mark,
      secrets: this.#secrets,
      log,
      initializeMs,
      onRequest: (request) =>
        answerEngine(request, {
          agentName: this.#run.agent.name,
          cwd: this.#run.cwd,
          approvals: settings.approvals,
          caller: this.#run.caller,
          changesOf: (itemId) => this.#turn.changesOf(itemId),
          onEvent: this.#run.onEvent,
          mask: this.#mask,
        }),
      onNotification: (method, params) => this.#hear(method, params?.value),
      onOversize: (event) => this.#turn.hearOversize(event),
    };
  }

  async #converse(server: AppServer): Promise<EngineResult> {
    try {
      // One after the other: signing in while it reads its configuration makes the engine fail. And
      // one that cannot be read has the engine forget who is signed in.
      const engineConfig = await this.#readConfig(server);
      await this.#signIn(server);
      return await this.#takeTurn(server, engineConfig);
    } catch (error) {
      if (error instanceof LinkEnded) return this.#died(server, error.end);
      if (!(error instanceof RpcError)) throw error;
      return this.#failed(error.message);
    }
  }

  async #takeTurn(server: AppServer, engineConfig: EngineConfig): Promise<EngineResult> {
    const { agent, cwd, servers, environment, task } = this.#run;
    const wish: ThreadWish = {
      agent,
      cwd,
      servers,
      environment: { ...environment, ...this.#marks },
      engineConfig,
      builtinsDefault: this.#settings.builtinsDefault,
      timeoutMs: this.#settings.timeoutMs,
    };
    this.#refusals = new Refusals({ cwd, sandbox: sandboxOf(wish), mask: this.#mask });
    const threadId = await this.#beginThread(server, wish);
    this.#turn.belongTo(threadId);
    const input = [{ type: 'text', text: task, text_elements: [] }];
    const turn = { threadId, input, ...turnSandbox(wish) };
    const turnId = await server.begin('turn', turn);
    this.#turn.begin(turnId);
    this.#running = { threadId, turnId };
    const end = await Promise.race([this.#turn.ended, server.ended]);
    if ('kind' in end) return this.#died(server, end);
    if (end.status === 'completed') return { ok: true, output: this.#turn.output };
    return this.#failed(end.reason || `The run was ${end.status}.`);
  }

  /** A server that does not start is left out, unless the agent requires it. */
  async #beginThread(server: AppServer, wish: ThreadWish): Promise<string> {
    try {
      return await server.begin('thread', threadParameters(wish));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const failed = failedServers(error.message, namedServers(wish), this.#mask);
      const [first] = failed;
      if (!first) throw error;
      const required = failed.find(({ server: { isRequired } }) => isRequired);
      const hint = `Try: switchboard agents ${wish.agent.toolName} --check`;
      if (required) {
        const { key } = required.server;
        const sentence = `Server "${key}", which the agent requires, did not start`;
        throw new RpcError(error.code, `${sentence}: ${required.reason}. ${hint}`);
      }
      for (const {
        server: { key },
        reason,
      } of failed) {
        const text = `The agent ran without server "${key}", which did not start: ${reason}. ${hint}`;
        this.#run.onEvent({ kind: 'note', text });
      }
      const lost = new Set(failed.map((one) => one.server));
      const servers = wish.servers.filter((one) => !lost.has(one));
      return this.#beginThread(server, { ...wish, servers });
    }
  }

  /** What the engine would do by itself in the run's folder. */
  async #readConfig(server: AppServer): Promise<EngineConfig> {
    const { cwd } = this.#run;
    return readEngineConfig(await server.request('config/read', { includeLayers: false, cwd }));
  }

  /** Uses the key of the environment where nobody is signed in; nothing of it is written down. */
  async #signIn(server: AppServer): Promise<void> {
    const account = await server.request('account/read', {});
    if (!isObject(account) || account['requiresOpenaiAuth'] !== true || account['account']) return;
    if (this.#apiKey === undefined) {
      throw new SwitchboardError('ENGINE_FAILED', 'Nobody is signed in to Codex.', {
        hint: 'Sign in with: codex login, or set OPENAI_API_KEY where Switchboard is started.',
      });
    }
    await server.request('account/login/start', { type: 'apiKey', apiKey: this.#apiKey });
  }

  async #interrupt(server: AppServer): Promise<void> {
    if (!this.#running) return;
    // An engine that does not answer is ended all the same.
    const answered = server.request('turn/interrupt', this.#running, INTERRUPT_MS).catch(() => {});
    await Promise.race([Promise.all([answered, this.#turn.ended]), sleep(INTERRUPT_MS)]);
  }

  #hear(method: string, params: unknown): void {
    if (!this.#turn.isAbout(params)) return;
    this.#turn.hear(method, params);
    if (isObject(params)) this.#refusals?.hear(method, params['item']);
    const event = describeNotification(method, params, this.#mask);
    if (event) this.#run.onEvent(event);
    else if (isObject(params) && 'summary' in params) this.#noteConfig(textOf(params['summary']));
  }

  /** What the engine thinks of its configuration is the same in every run: for the log. */
  #noteConfig(summary: string): void {
    this.#options.log.debug(`codex: ${excerpt(summary, LONGEST_REASON, this.#mask)}`);
  }

  #warn(text: string): void {
    this.#run.onEvent({ kind: 'warning', text: this.#mask(text) });
  }

  #died(server: AppServer, end: LinkEnd): EngineResult {
    return this.#failed(`${server.explainEnd(end, 'during the run')}.`);
  }

  /** The engine's words as one sentence: without the layers of its own that they came through. */
  #failed(reason: string): EngineResult {
    const { cancellation, agent } = this.#run;
    if (!cancellation.reason) {
      const details = excerpt(reason, LONGEST_DETAILS, this.#mask);
      this.#options.log.info(`${agent.toolName}: ${details}`);
    }
    const words = reason.replace(
      /^error creating thread: (?:Fatal error: )?(?:Failed to initialize session: )?/,
      '',
    );
    return { ok: false, output: excerpt(words, LONGEST_REASON, this.#mask) };
  }

  get #marks(): Record<string, string> {
    return { ...this.#options.mark, [this.#mark.name]: this.#mark.value };
  }

  #environment(): NodeJS.ProcessEnv {
    const { env } = this.#options;
    const { codexHome } = this.#settings;
    const ours = Object.entries(env).filter(([name]) => !OUR_SECRETS.test(name));
    return withVariables(Object.fromEntries(ours), {
      // A stack says nothing to those who read the log.
      RUST_BACKTRACE: '0',
      ...this.#run.environment,
      ...this.#marks,
      ...(codexHome !== undefined && { CODEX_HOME: codexHome }),
    });
  }
}
