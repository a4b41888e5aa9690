// One run: a Codex process, a thread and a turn in it. The turn's notifications become the result. However a run ends,
// nothing is left behind.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import { AGENT_MARK } from '../../base/orphans.ts';
import { withVariables } from '../../base/process.ts';
import { createMask, type Mask } from '../../base/secrets.ts';
import { excerpt } from '../../base/text.ts';
import { pause, sleep } from '../../base/time.ts';
import { VERSION } from '../../base/version.ts';
import { withoutCredentials } from '../../child/environment.ts';
import { type LinkEnd, LinkEnded } from '../../child/link.ts';
import type { AgentSettings } from '../../config/config.ts';
import { RpcError } from '../../rpc/message.ts';
import type { EngineParts, EngineResult, EngineRun } from '../engine.ts';
import { AppServer, type AppServerOptions } from './app-server.ts';
import { answerCodex } from './approvals.ts';
import { prepareCatalog } from './catalog.ts';
import { type CodexConfig, readCodexConfig } from './codex-config.ts';
import { describeNotification, stringOf } from './events.ts';
import { failedServers } from './failed-servers.ts';
import { codexHomeOf } from './home.ts';
import type { Litter } from './litter.ts';
import { Refusals } from './refusals.ts';
import type { StartGate } from './start-gate.ts';
import {
  namedServers,
  processArguments,
  sandboxOf,
  type ThreadOptions,
  threadParameters,
  turnSandbox,
  wantsPatch,
} from './thread.ts';
import { Turn } from './turn.ts';
import { readUserConfig } from './user-config.ts';

export interface CodexOptions extends EngineParts {
  /** Time limit for Codex's first response. */
  readonly initializeMs?: number | undefined;
}

const INITIALIZE_MS = 15_000;
const START_AGAIN_MS = 300;
/** Several times what Codex needs to interrupt a turn, if it still listens. */
const INTERRUPT_MS = 600;
const LONGEST_REASON = 500;
/** For the log. */
const LONGEST_DETAILS = 4_000;

export class CodexRun {
  readonly #run: EngineRun;
  readonly #binary: string;
  readonly #options: CodexOptions;
  readonly #settings: AgentSettings;
  readonly #turn: Turn;
  readonly #mark = { name: AGENT_MARK, value: randomUUID() };
  readonly #apiKey: string | undefined;
  readonly #secrets: readonly string[];
  readonly #mask: Mask;
  #refusals: Refusals | undefined;
  /** The parameters of `turn/interrupt`. */
  #running: { readonly threadId: string; readonly turnId: string } | undefined;

  constructor(run: EngineRun, binary: string, options: CodexOptions) {
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
    onEvent({ kind: 'starting', text: `starting ${agent.name}` });
    const server = await gate.pass(cancellation, () => this.#start());
    let isCompleted = false;
    const leave = litter.enter(cwd);
    try {
      const result = await cancellation.race(this.#converse(server));
      isCompleted = result.ok;
      return result;
    } finally {
      for (const text of this.#refusals?.sentences ?? []) onEvent({ kind: 'note', text });
      if (cancellation.reason) await this.#interrupt(server);
      await server.close();
      leave(isCompleted);
    }
  }

  /**
   * Starts and initializes Codex; stops it again if cancelled meanwhile. On its very first start, Codex creates its
   * folder, and if two processes do so at once, one of them exits. So we retry a failed start once, after a moment.
   */
  async #start(): Promise<AppServer> {
    const { cancellation } = this.#run;
    const options = await this.#prepare();
    try {
      return await this.#startOnce(options);
    } catch (error) {
      if (!(error instanceof SwitchboardError && error.cause instanceof LinkEnded)) throw error;
      await pause(START_AGAIN_MS, cancellation);
      return this.#startOnce(options);
    }
  }

  async #startOnce(options: AppServerOptions): Promise<AppServer> {
    const { cancellation } = this.#run;
    cancellation.throwIfCancelled();
    const server = await AppServer.open(options);
    this.#options.onProcess(server.pid);
    try {
      await cancellation.race(server.initialize(VERSION));
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
    const codexEnv = this.#environment();
    const catalog = await prepareCatalog({
      binary,
      env: codexEnv,
      folder: join(home, 'cache', 'engine'),
      usersCatalog: user.modelCatalog,
      applyPatch: wantsPatch(run, settings.builtinsDefault),
      hasVerbosity: run.verbosity !== undefined,
      model: run.model ?? user.model,
      cancellation: this.#run.cancellation,
      onProcess: this.#options.onProcess,
    });
    if (catalog.warning !== undefined) this.#warn(catalog.warning);
    const isKeyOurs = user.isSignedOut && this.#apiKey !== undefined;
    return {
      binary,
      args: processArguments({ run, catalogFile: catalog.file, isKeyOurs }),
      env: codexEnv,
      codexHome,
      mark: this.#mark,
      secrets: this.#secrets,
      log,
      initializeMs,
      onRequest: (request) =>
        answerCodex(request, {
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
      // One after the other: signing in while Codex reads its configuration makes it fail, and an
      // unreadable configuration makes it forget who is signed in.
      const codexConfig = await this.#readConfig(server);
      await this.#signIn(server);
      return await this.#takeTurn(server, codexConfig);
    } catch (error) {
      if (error instanceof LinkEnded) return this.#died(server, error.end);
      if (!(error instanceof RpcError)) throw error;
      return this.#failed(error.message);
    }
  }

  async #takeTurn(server: AppServer, codexConfig: CodexConfig): Promise<EngineResult> {
    const { agent, cwd, servers, environment, task } = this.#run;
    const options: ThreadOptions = {
      agent,
      cwd,
      servers,
      environment: { ...environment, ...this.#marks },
      codexConfig,
      builtinsDefault: this.#settings.builtinsDefault,
      timeoutMs: this.#settings.timeoutMs,
    };
    this.#refusals = new Refusals({ cwd, sandbox: sandboxOf(options), mask: this.#mask });
    const threadId = await this.#beginThread(server, options);
    this.#turn.belongTo(threadId);
    const input = [{ type: 'text', text: task, text_elements: [] }];
    const turn = { threadId, input, ...turnSandbox(options) };
    const turnId = await server.begin('turn', turn);
    this.#turn.begin(turnId);
    this.#running = { threadId, turnId };
    const end = await Promise.race([this.#turn.ended, server.ended]);
    if ('kind' in end) return this.#died(server, end);
    if (end.status === 'completed') return { ok: true, output: this.#turn.output };
    return this.#failed(end.reason || `The run was ${end.status}.`);
  }

  /** Drops servers that fail to start, unless the agent requires them. */
  async #beginThread(server: AppServer, options: ThreadOptions): Promise<string> {
    try {
      return await server.begin('thread', threadParameters(options));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const failed = failedServers(error.message, namedServers(options), this.#mask);
      const [first] = failed;
      if (!first) throw error;
      const required = failed.find(({ server: { isRequired } }) => isRequired);
      const hint = `Run: switchboard agents ${options.agent.toolName} --check`;
      if (required) {
        const { key } = required.server;
        const sentence = `Server "${key}", which the agent requires, failed to start`;
        throw new RpcError(error.code, `${sentence}: ${required.reason}. ${hint}`);
      }
      for (const {
        server: { key },
        reason,
      } of failed) {
        const text = `The agent ran without server "${key}", which failed to start: ${reason}. ${hint}`;
        this.#run.onEvent({ kind: 'note', text });
      }
      const lost = new Set(failed.map((one) => one.server));
      const servers = options.servers.filter((one) => !lost.has(one));
      return this.#beginThread(server, { ...options, servers });
    }
  }

  /** Codex's own configuration for the run's folder. */
  async #readConfig(server: AppServer): Promise<CodexConfig> {
    const { cwd } = this.#run;
    return readCodexConfig(await server.request('config/read', { includeLayers: false, cwd }));
  }

  /** Uses the API key in the environment if the user isn't signed in. It is never stored. */
  async #signIn(server: AppServer): Promise<void> {
    const account = await server.request('account/read', {});
    if (!isObject(account) || account['requiresOpenaiAuth'] !== true || account['account']) return;
    if (this.#apiKey === undefined) {
      throw new SwitchboardError('ENGINE_FAILED', 'Codex is not signed in.', {
        hint: "Run `codex login`, or set OPENAI_API_KEY in Switchboard's environment.",
      });
    }
    await server.request('account/login/start', { type: 'apiKey', apiKey: this.#apiKey });
  }

  async #interrupt(server: AppServer): Promise<void> {
    if (!this.#running) return;
    // If Codex doesn't respond, it's stopped anyway.
    const answered = server.request('turn/interrupt', this.#running, INTERRUPT_MS).catch(() => {});
    await Promise.race([Promise.all([answered, this.#turn.ended]), sleep(INTERRUPT_MS)]);
  }

  #hear(method: string, params: unknown): void {
    if (!this.#turn.isAbout(params)) return;
    this.#turn.hear(method, params);
    if (isObject(params)) this.#refusals?.hear(method, params['item']);
    const event = describeNotification(method, params, this.#mask);
    if (event) this.#run.onEvent(event);
    else if (isObject(params) && 'summary' in params) this.#noteConfig(stringOf(params['summary']));
  }

  /** Remarks about the configuration are the same in every run, so they go to the log. */
  #noteConfig(summary: string): void {
    this.#options.log.debug(`codex: ${excerpt(summary, LONGEST_REASON, this.#mask)}`);
  }

  #warn(text: string): void {
    this.#run.onEvent({ kind: 'warning', text: this.#mask(text) });
  }

  #died(server: AppServer, end: LinkEnd): EngineResult {
    if (!this.#run.cancellation.reason) server.logOutput();
    return this.#failed(`${server.explainEnd(end, 'during the run')}.`);
  }

  /** Codex's message as one sentence, without the prefixes of its inner layers. */
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
    return withVariables(withoutCredentials(env, /^CODEX_/i), {
      // Stack traces don't help people who read the log.
      RUST_BACKTRACE: '0',
      ...this.#run.environment,
      ...this.#marks,
      ...(codexHome !== undefined && { CODEX_HOME: codexHome }),
    });
  }
}
