// One project: its configuration, and everything that runs because of it. It takes everything from the
// given folder and environment, never from this process, so one process can hold several projects. Closing
// one doesn't affect the others.
import { type AgentList, listAgents } from './agents/list.ts';
import { Cancellation } from './base/cancellation.ts';
import { describeBug, SwitchboardError } from './base/errors.ts';
import { guard } from './base/guard.ts';
import type { Log } from './base/log.ts';
import type { Config } from './config/config.ts';
import type { RunScript } from './config/files/files.ts';
import type { JudgedSubject, TrustedPart } from './config/judge.ts';
import { loadConfig } from './config/load.ts';
import { openControlLater } from './host/control-later.ts';
import { createReport } from './host/status-report.ts';
import type { Caller } from './mcp/caller.ts';
import { canAnswer } from './mcp/questions.ts';
import type { ListedHost } from './session/handshake-desk.ts';
import { type HostApprovals, Switchboard, type SwitchboardOptions } from './switchboard.ts';
import type { HostQuestions } from './trust/approvals/ask-host.ts';
import { judgeOpener, saveJudged } from './trust/approvals/open.ts';
import { noteApprovals } from './trust/audit/events.ts';

export interface ProjectOptions
  extends Pick<
    SwitchboardOptions,
    'program' | 'relaunch' | 'isAssistant' | 'isShared' | 'processes'
  > {
  /** Where the host or the user works. The project is found from here. */
  readonly folder: string;
  /** The host's or the user's environment. It determines the home folders, and servers inherit it. */
  readonly environment: NodeJS.ProcessEnv;
  readonly configFile?: string | undefined;
  readonly serversFile?: string | undefined;
  readonly assistantFolder?: string | undefined;
  /** `--trust`: how far the project is trusted. */
  readonly trust?: string | undefined;
  /** Whether the user is told which files were trusted at first sight. */
  readonly announcesTrust?: boolean;
  /** Whether hosts may ask the user to approve pending items. */
  readonly asksHosts?: boolean | undefined;
  /** Changes the configuration after it is read, such as which servers have an assistant in front of them. */
  readonly adapt?: (config: Config) => Config;
  /**
   * The variables servers inherit, if not the whole environment. Called once the configuration has been
   * read.
   */
  readonly environmentOfServers?: (environment: NodeJS.ProcessEnv) => NodeJS.ProcessEnv;
  /** Runs configuration files that are scripts. By default, this process does. */
  readonly runScript?: RunScript | undefined;
  /** Whether the project's agents are served. */
  readonly hasAgents?: boolean;
  readonly log: Log;
  /** Called with each configuration before it takes effect. */
  readonly onLoaded?: (loaded: Loaded) => void | Promise<void>;
}

/** Read before anything runs, and again on every reload. */
export interface Loaded {
  readonly config: Config;
  readonly found: AgentList;
  /** What was trusted without asking just now. */
  readonly trusted: readonly TrustedPart[];
}

export interface Reloaded {
  readonly ok: boolean;
  readonly message: string;
}

const NO_AGENTS: AgentList = { agents: [], hidden: 0, folders: [], problems: [], skipped: [] };

/** After the host's first answers, but early enough for `status` and `reload` to find us. */
const CONTROL_AFTER_MS = 200;
/** Processes left by a killed run get SIGTERM and `stopMs`, and should be gone within twice that time. */
const ORPHANS_AFTER_MS = 1_000;

export class Project implements AsyncDisposable {
  readonly switchboard: Switchboard;
  readonly #options: ProjectOptions;
  #lastReload: Promise<unknown> = Promise.resolve();
  #questions: Promise<HostQuestions> | undefined;
  #control: AsyncDisposable | undefined;
  #orphans: Disposable | undefined;

  static async open(options: ProjectOptions): Promise<Project> {
    return new Project(options, await load(options));
  }

  private constructor(options: ProjectOptions, { config, found, trusted }: Loaded) {
    const { environment, environmentOfServers, log, program, relaunch } = options;
    const { isAssistant, isShared, processes } = options;
    this.#options = options;
    this.switchboard = new Switchboard({
      config,
      agents: found.agents,
      environment: environmentOfServers?.(environment) ?? environment,
      log,
      program,
      relaunch,
      isAssistant,
      isShared,
      approvals: options.asksHosts === true ? this.#approvals() : undefined,
      processes,
    });
    noteApprovals(this.switchboard.board.calls.audit, trusted);
  }

  /** The configuration in effect. */
  get config(): Config {
    return this.switchboard.config;
  }

  /** Reads the configuration again, one reload at a time. If it's invalid, nothing changes. */
  reload(): Promise<Reloaded> {
    const next = this.#lastReload.then(() => this.#reload());
    this.#lastReload = next;
    return next;
  }

  /** Lets the user's other commands ask this project for its status or a reload. */
  openControlSoon(): void {
    const { home, project } = this.config;
    this.#control ??= openControlLater({
      afterMs: CONTROL_AFTER_MS,
      home,
      project,
      log: this.#options.log,
      methods: {
        status: () => createReport(this.switchboard.facts),
        reload: () => this.reload(),
        recheck: () => {
          this.switchboard.recheck();
          return { ok: true };
        },
      },
    });
  }

  /**
   * Stops processes a killed run left behind, after the host has its first answers or when the project
   * closes.
   */
  endOrphansSoon(): void {
    if (this.#orphans) return;
    const { log } = this.#options;
    const end = guard(
      (error) => log.error(describeBug(error)),
      () => void this.switchboard.stopOrphans(),
    );
    const timer = setTimeout(end, Math.min(ORPHANS_AFTER_MS, this.config.stopMs / 4)).unref();
    this.#orphans = {
      [Symbol.dispose]() {
        clearTimeout(timer);
        end();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#orphans?.[Symbol.dispose]();
    await this.#control?.[Symbol.asyncDispose]();
    await this.switchboard[Symbol.asyncDispose]();
  }

  /** How hosts ask the user. Loaded only if something is pending and the host can ask. */
  #approvals(): HostApprovals {
    const { log } = this.#options;
    const isAsking = ({ capabilities }: Pick<Caller, 'capabilities'>) =>
      this.config.gate?.asksHosts === true && canAnswer(capabilities, 'elicitation/create', {});
    const onListed = async (host: ListedHost) => {
      if (!isAsking(host) || !this.config.gate?.judge?.waiting) return;
      const { judgeAgentFiles } = await import('./agents/judged.ts');
      await judgeAgentFiles(this.config, this.#options.environment);
      const questions = await this.#hostQuestions();
      await questions.askAll(this.#judged, host, new Cancellation());
    };
    return {
      onListed: (host) => void onListed(host).catch((error) => log.error(describeBug(error))),
      approve: async (child, { caller, cancellation }) => {
        if (caller?.era !== 'modern' || !isAsking(caller)) return;
        const questions = await this.#hostQuestions();
        await questions.askAbout(child, this.#judged, caller, cancellation);
      },
    };
  }

  get #judged(): readonly JudgedSubject[] {
    return this.config.gate?.judge?.judged ?? [];
  }

  #hostQuestions(): Promise<HostQuestions> {
    this.#questions ??= import('./trust/approvals/ask-host.ts').then(
      (loaded) =>
        new loaded.HostQuestions({
          home: this.config.home,
          log: this.#options.log,
          audit: () => this.switchboard.board.calls.audit,
          reload: () => this.reload(),
        }),
    );
    return this.#questions;
  }

  async #reload(): Promise<Reloaded> {
    const { log } = this.#options;
    try {
      const { config, found, trusted } = await load(this.#options);
      this.switchboard.update(config, found.agents);
      noteApprovals(this.switchboard.board.calls.audit, trusted);
      const message = `reloaded the configuration: ${config.files.join(', ') || 'no files'}.`;
      log.info(message);
      return { ok: true, message };
    } catch (error) {
      const message =
        error instanceof SwitchboardError
          ? `could not reload the configuration, keeping the previous one: ${error.text}`
          : `could not reload the configuration: ${describeBug(error)}`;
      log.error(message);
      return { ok: false, message };
    }
  }
}

async function load(options: ProjectOptions): Promise<Loaded> {
  const { folder, environment, configFile, serversFile, assistantFolder, trust } = options;
  const { runScript } = options;
  const read = await loadConfig({
    cwd: folder,
    env: environment,
    configFile,
    serversFile,
    assistantFolder,
    trust,
    runScript,
    openJudge: judgeOpener({ announces: options.announcesTrust }),
  });
  const config = options.adapt?.(read) ?? read;
  const { agents: settings } = config;
  const isLooking = options.hasAgents === true && settings.show !== 'off';
  const found = isLooking ? await listAgents({ ...config, settings }) : NO_AGENTS;
  const trusted = saveJudged(config, { announces: options.announcesTrust });
  const loaded = { config, found, trusted };
  await options.onLoaded?.(loaded);
  return loaded;
}
