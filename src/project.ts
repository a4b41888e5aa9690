// One project: its configuration, and everything that runs because of it. It takes everything from the
// given folder and environment, never from this process, so one process can hold several projects. Closing
// one doesn't affect the others.
import { type AgentList, listAgents } from './agents/list.ts';
import { Cancellation } from './base/cancellation.ts';
import { describeBug, SwitchboardError } from './base/errors.ts';
import { guard } from './base/guard.ts';
import type { Log } from './base/log.ts';
import type { TreeWatch } from './base/watch/tree-watch.ts';
import { Turns } from './base/watch/turns.ts';
import { type Config, isOff } from './config/config.ts';
import type { RunScript } from './config/files/files.ts';
import type { JudgedSubject, TrustedPart } from './config/judge.ts';
import { loadConfig } from './config/load.ts';
import type { ControlMethods } from './host/control.ts';
import { openControlLater } from './host/control-later.ts';
import { createReport, type Facts } from './host/status-report.ts';
import type { Caller } from './mcp/caller.ts';
import { canAnswer } from './mcp/questions.ts';
import type { ListedHost } from './session/handshake-desk.ts';
import {
  type ConnectedSession,
  type Connection,
  type HostApprovals,
  Switchboard,
  type SwitchboardOptions,
} from './switchboard.ts';
import type { HostQuestions } from './trust/approvals/ask-host.ts';
import { judgeOpener, saveJudged } from './trust/approvals/open.ts';
import { noteApprovals } from './trust/audit/events.ts';

export interface ProjectOptions
  extends Pick<
    SwitchboardOptions,
    'program' | 'relaunch' | 'isAssistant' | 'isShared' | 'processes' | 'openAssistant'
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
  /** Projects in the same process apply changes on disk in turns. */
  readonly turns?: Turns | undefined;
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
  /** The problems of ignored files, except those that came with the project. */
  readonly broken: readonly string[];
  /** When its files were read, in milliseconds since 1970. */
  readonly readAt: number;
}

/** In milliseconds. */
interface WatchTimes {
  readonly afterMs?: number;
  readonly quietMs?: number;
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
/** A host that only lists tools is gone by then. */
const WATCH_AFTER_MS = 1_000;

export class Project implements AsyncDisposable {
  readonly switchboard: Switchboard;
  readonly #options: ProjectOptions;
  readonly #parts: Omit<SwitchboardOptions, 'config' | 'agents'>;
  /** Those of hosts that have servers of their own. */
  readonly #beside = new Set<Switchboard>();
  /** The ends of those whose host is gone. */
  readonly #ending = new Set<Promise<void>>();
  #lastReload: Promise<unknown> = Promise.resolve();
  #questions: Promise<HostQuestions> | undefined;
  #control: AsyncDisposable | undefined;
  #orphans: Disposable | undefined;
  #watchTimer: NodeJS.Timeout | undefined;
  #watch: TreeWatch | undefined;
  /** The last configuration that was read and is in effect. */
  #read: Pick<Loaded, 'broken' | 'readAt' | 'found'>;
  /** Why the files on disk aren't in effect, if they aren't. */
  #problem: string | undefined;
  #isClosed = false;

  static async open(options: ProjectOptions): Promise<Project> {
    return new Project(options, await load(options));
  }

  private constructor(options: ProjectOptions, loaded: Loaded) {
    const { config, found, trusted } = loaded;
    const { environment, environmentOfServers, log, program, relaunch } = options;
    const { isAssistant, isShared, processes, openAssistant } = options;
    this.#options = options;
    this.#read = loaded;
    this.#parts = {
      environment: environmentOfServers?.(environment) ?? environment,
      log,
      program,
      relaunch,
      isAssistant,
      isShared,
      approvals: options.asksHosts === true ? this.#approvals() : undefined,
      processes,
      openAssistant,
    };
    this.switchboard = new Switchboard({ ...this.#parts, config, agents: found.agents });
    noteApprovals(this.switchboard.board.calls.audit, trusted);
  }

  /** The configuration in effect. */
  get config(): Config {
    return this.switchboard.config;
  }

  /** Whether each host has processes of its own for some servers. */
  get hasOwnServers(): boolean {
    if (!this.#options.isShared) return false;
    const { children } = this.config;
    return [...children.values()].some((child) => child.share === 'session' && !isOff(child));
  }

  /** Opens the session of one host among several. Servers are shared between hosts as `share` says. */
  openSession(connection: Connection): ConnectedSession {
    if (!this.hasOwnServers) return this.switchboard.openSession(connection);
    const { config, switchboard: beside } = this;
    const { agents } = this.#read.found;
    const own = new Switchboard({ ...this.#parts, config, agents, beside });
    this.#beside.add(own);
    const connected = own.openSession(connection);
    const close = (): void => {
      if (!this.#beside.delete(own)) return;
      connected.close();
      const ended = own[Symbol.asyncDispose]().catch((error: unknown) =>
        this.#options.log.error(describeBug(error)),
      );
      this.#ending.add(ended);
      void ended.then(() => this.#ending.delete(ended));
    };
    return { ...connected, close };
  }

  get #all(): readonly Switchboard[] {
    return [this.switchboard, ...this.#beside];
  }

  /** The numbers of this project's hosts among the sessions that share processes. */
  get sessionNumbers(): readonly number[] {
    return this.#all.flatMap(({ sessionNumber }) => sessionNumber ?? []);
  }

  /** What `status` reports. */
  get facts(): Facts {
    const [main, ...others] = this.#all.map(({ facts }) => facts);
    const configProblem = this.#problem;
    if (!main || others.length === 0) return { ...this.switchboard.facts, configProblem };
    const all = [main, ...others];
    return {
      ...main,
      configProblem,
      sessions: all.flatMap(({ sessions }) => sessions),
      runs: all.flatMap(({ runs }) => runs),
      children: main.children.map((child) => combined(child, all)),
    };
  }

  /** Reads the configuration again, one reload at a time. If it's invalid, nothing changes. */
  reload(): Promise<Reloaded> {
    return this.#reloadNext();
  }

  /** `changed` are the files on disk that are the reason. */
  #reloadNext(changed?: readonly string[]): Promise<Reloaded> {
    const next = this.#lastReload.then(() => this.#reload(changed));
    this.#lastReload = next;
    return next;
  }

  /** Applies changes to the files of the configuration, once the host has its first answers. */
  watchSoon({ afterMs = WATCH_AFTER_MS, quietMs }: WatchTimes = {}): void {
    const { log } = this.#options;
    const begin = (): void =>
      void this.#beginWatch(quietMs).catch((error: unknown) => log.error(describeBug(error)));
    this.#watchTimer ??= setTimeout(
      guard((error) => log.error(describeBug(error)), begin),
      afterMs,
    ).unref();
  }

  /** Whether changes on disk are noticed. */
  get isWatching(): boolean {
    return this.#watch?.isWatching ?? false;
  }

  async #beginWatch(quietMs: number | undefined): Promise<void> {
    if (this.config.watch === false || this.#isClosed) return;
    const [{ TreeWatch: Watch }, { watchedTrees }] = await Promise.all([
      import('./base/watch/tree-watch.ts'),
      import('./agents/watched.ts'),
    ]);
    if (this.#isClosed) return;
    const { log, turns = new Turns(), hasAgents = false } = this.#options;
    const { files, children } = this.config;
    this.#watch = new Watch({
      trees: () => (this.config.watch === false ? [] : watchedTrees(this.config, hasAgents)),
      since: this.#read.readAt,
      expected: [...files, ...[...children.values()].map(({ origin }) => origin)],
      turns,
      quietMs,
      onChange: async (paths) => void (await this.#reloadNext(paths)),
      onProblem: (problem) => log.info(problem),
      onBug: (error) => log.error(describeBug(error)),
    });
  }

  /** What the user's other commands can ask this project. */
  readonly controls: ControlMethods = {
    status: () => createReport(this.facts),
    reload: () => this.reload(),
    recheck: () => {
      for (const one of this.#all) one.recheck();
      return { ok: true };
    },
  };

  /**
   * Lets the user's other commands control this project, which serves alone. `stop` is called if they want this
   * program to end.
   */
  openControlSoon(stop: () => void): void {
    const { home, project } = this.config;
    // Lazy: few sessions are ever told to stop.
    const solo = async () => {
      const { SoloControls } = await import('./host/solo-controls.ts');
      const { log } = this.#options;
      return new SoloControls(this.switchboard, stop, (bug) => log.error(describeBug(bug)));
    };
    this.#control ??= openControlLater({
      afterMs: CONTROL_AFTER_MS,
      home,
      project,
      log: this.#options.log,
      methods: {
        ...this.controls,
        stop: async (params) => (await solo()).stop(params),
        'stop-server': async (params) => (await solo()).stopServer(params),
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
    this.#isClosed = true;
    clearTimeout(this.#watchTimer);
    this.#watch?.[Symbol.dispose]();
    this.#orphans?.[Symbol.dispose]();
    await this.#control?.[Symbol.asyncDispose]();
    await Promise.all([...this.#beside].map((one) => one[Symbol.asyncDispose]()));
    await Promise.all(this.#ending);
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

  async #reload(changed: readonly string[] | undefined): Promise<Reloaded> {
    const { log } = this.#options;
    try {
      this.#watch?.note();
      // A file that someone is still editing doesn't stop its server.
      const loaded = await load(this.#options, changed && this.#read.broken);
      if (this.#isClosed) return { ok: false, message: 'Switchboard is shutting down.' };
      const { config, found, trusted } = loaded;
      this.#read = loaded;
      this.#problem = undefined;
      for (const one of this.#all) one.update(config, found.agents);
      noteApprovals(this.switchboard.board.calls.audit, trusted);
      const message = changed
        ? `reloaded the configuration, because files have changed: ${nameSome(changed)}.`
        : `reloaded the configuration: ${config.files.join(', ') || 'no files'}.`;
      log.info(message);
      return { ok: true, message };
    } catch (error) {
      const isKnown = error instanceof SwitchboardError;
      const problem = isKnown ? error.text : describeBug(error);
      const message = isKnown
        ? `could not reload the configuration, keeping the previous one: ${problem}`
        : `could not reload the configuration: ${problem}`;
      // Editors may save it many times before it's right.
      if (!changed || problem !== this.#problem) log.error(message);
      this.#problem = problem;
      return { ok: false, message };
    } finally {
      this.#watch?.lookSoon(); // other files may matter now
    }
  }
}

type ChildFacts = Facts['children'][number];

/** A server as all hosts see it: its process, and the calls of all of them. */
function combined(child: ChildFacts, all: readonly Facts[]): ChildFacts {
  const same = all.flatMap(({ children }) => children.filter(({ name }) => name === child.name));
  const running = same.find(({ pid, state }) => pid !== undefined || state === 'active') ?? child;
  return { ...running, calls: same.reduce((sum, { calls }) => sum + calls, 0) };
}

const MOST_NAMED = 3;

function nameSome(files: readonly string[]): string {
  const named = files.slice(0, MOST_NAMED).join(', ');
  const more = files.length - MOST_NAMED;
  return more > 0 ? `${named} and ${more} more` : named;
}

/** If `known` is given, throws if other files are broken than those. */
async function load(options: ProjectOptions, known?: readonly string[]): Promise<Loaded> {
  const readAt = Date.now();
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
  const broken = [...(config.broken ?? []), ...(found.broken ?? [])];
  const newlyBroken = known ? broken.filter((problem) => !known.includes(problem)) : [];
  if (newlyBroken.length > 0) {
    throw new SwitchboardError('CONFIG_INVALID', newlyBroken.join('\n'));
  }
  const trusted = saveJudged(config, { announces: options.announcesTrust });
  const loaded = { config, found, trusted, broken, readAt };
  await options.onLoaded?.(loaded);
  return loaded;
}
