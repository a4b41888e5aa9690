// Puts the layers together: a configuration, the pool of its servers, the runs of its agents, the surface
// that shows them, and the sessions of the hosts. The configuration lives here. Lower layers read it
// through a function, or get the new one from `update` if they compare it with the old one.
import { join } from 'node:path';
import type { ListedAgent } from './agents/agent.ts';
import type { Crew } from './agents/crew.ts';
import type { RunAgent, Runs } from './agents/runs.ts';
import type { Relaunch } from './agents/servers/guard.ts';
import { depthMark } from './assistant/depth.ts';
import type { Cancellation } from './base/cancellation.ts';
import { shortDigest } from './base/digest.ts';
import { describeBug } from './base/errors.ts';
import type { Log } from './base/log.ts';
import { createLogFile, logPlaces } from './base/log-file.ts';
import { RunNote, stopOrphans } from './base/orphans.ts';
import { settleWithin, withTimeout } from './base/time.ts';
import type { Child } from './child/child.ts';
import type { Credentials } from './child/credentials.ts';
import type { InsideServer, OpenInside } from './child/inside-link.ts';
import { NOTHING_HELD, type Screen } from './child/screen.ts';
import type { Confine } from './child/start.ts';
import {
  type ChildConfig,
  type Config,
  isOff,
  type Sandbox,
  tokenFolder,
} from './config/config.ts';
import { expandRemote, secretReferences } from './config/server/expand.ts';
import type { Facts } from './host/status-report.ts';
import { clientName } from './mcp/caller.ts';
import type { Era } from './mcp/eras.ts';
import { projectRoots } from './mcp/roots.ts';
import { Catalog } from './pool/catalog.ts';
import type { EndOutcome, EndRequest } from './pool/end-servers.ts';
import type { StderrSink } from './pool/lease.ts';
import { Pool } from './pool/pool.ts';
import type { Processes } from './pool/processes.ts';
import type { ChildReport, Wish } from './pool/slot.ts';
import type { ReadLimits } from './rpc/framing.ts';
import { Parking } from './session/parking.ts';
import { StateSeal } from './session/request-state.ts';
import { Session, type SessionOptions } from './session/session.ts';
import { Board, type BoardParts } from './surface/board.ts';
import { Claims, type ClaimsFile } from './surface/claims.ts';
import { modeOf, toolDemandOf } from './surface/modes/table.ts';
import type { Audience } from './surface/surface.ts';
import type { Reviewer } from './trust/changes/review.ts';
import type { UserSecrets } from './trust/secrets/open.ts';

export interface SwitchboardOptions {
  readonly config: Config;
  readonly log: Log;
  /** Inherited by servers and agents. */
  readonly environment: NodeJS.ProcessEnv;
  /** The agents that were found. */
  readonly agents?: readonly ListedAgent[] | undefined;
  /** The path this program was started with, if known. */
  readonly program?: string | undefined;
  /** The command that starts this program again, with the same configuration files. */
  readonly relaunch?: Relaunch | undefined;
  /** Whether this is an assistant, in front of one server. */
  readonly isAssistant?: boolean | undefined;
  /** Whether several hosts may connect at once. */
  readonly isShared?: boolean | undefined;
  /** How hosts ask the user to approve pending items; undefined if they don't. */
  readonly approvals?: HostApprovals | undefined;
  /** The processes of all sessions in this program, if there are others. */
  readonly processes?: Processes | undefined;
  /** Uses the processes of this one, which must not be disposed before. */
  readonly beside?: Switchboard | undefined;
  /** Opens assistants within this process. By default, they are programs of their own. */
  readonly openAssistant?: OpenAssistant | undefined;
  /** Answers questions that servers ask while no call is in flight. By default, the board's hosts do. */
  readonly askOutside?: Board['askOutside'] | undefined;
}

/** Opens the assistant of a server within this process. Throws if that's impossible. */
export type OpenAssistant = (child: ChildConfig, parts: AssistantSurroundings) => InsideAssistant;

interface AssistantSurroundings
  extends Pick<SwitchboardOptions, 'config' | 'log' | 'processes' | 'program' | 'askOutside'> {
  /** Takes one message of the assistant's. */
  readonly send: (text: string) => void;
}

interface InsideAssistant extends InsideServer {
  /** About the server behind it. */
  readonly report: () => ChildReport;
}

export interface HostApprovals
  extends Pick<SessionOptions, 'onListed'>,
    Pick<BoardParts, 'approve'> {}

const LEVEL_OF_MOVE = {
  memory: 'warn',
  roots: 'debug',
  stopped: 'info',
  restarted: 'info',
} as const;

/** A stopped server's connection ends when its last output has been read. */
const LAST_ENDS_MS = 500;
/** A host that doesn't say its roots in time shares no server that asks for them. */
const ROOTS_MS = 2_000;

/** The parts of a session that the host's connection provides. */
export type Connection = Pick<SessionOptions, 'send'> &
  Partial<Pick<SessionOptions, 'eras' | 'openSurface' | 'lastId' | 'sendPieces'>>;

/** A host's session, from its connection's point of view. */
export interface ConnectedSession {
  readonly session: Session;
  /** Whether the host has too much unread output. */
  readonly setFull: (isFull: boolean) => void;
  readonly close: () => void;
}

export class Switchboard implements AsyncDisposable {
  readonly pool: Pool;
  readonly board: Board;
  readonly #options: Omit<SwitchboardOptions, 'config' | 'agents'>;
  readonly #startedAt = new Date().toISOString();
  #config: Config;
  #crew: Promise<Crew> | undefined;
  /** The crew's runs, once it is loaded. */
  #runs: Runs | undefined;
  #orphans: Promise<void> | undefined;
  #reviewer: Reviewer | undefined;
  #secrets: UserSecrets | undefined;
  readonly #catalog: Catalog;
  readonly #claims: Claims;
  readonly #runNote: RunNote;
  /** Of this project alone, unless it shares those of others. */
  #ownProcesses: Promise<Processes> | undefined;
  /** Our number among those that share the processes. */
  #session: number | undefined;
  readonly #seal = new StateSeal();
  readonly #parking = new Parking();
  readonly #sessions = new Set<Session>();
  /** The last assistant of each server that was opened within this process. */
  readonly #inside = new Map<string, InsideAssistant>();
  /** The exits of running servers that the audit log waits for. */
  readonly #ends = new Set<Promise<void>>();

  constructor(options: SwitchboardOptions) {
    const { config, agents = [], ...rest } = options;
    const { log } = rest;
    this.#options = rest;
    this.#config = config;
    this.#runNote = new RunNote(join(config.home, 'run'));
    this.#catalog = openCatalog(config, (problem) => log.warn(problem));
    this.pool = new Pool(config.children, {
      start: (child, wish) => this.#startChild(child, wish),
      catalog: this.#catalog,
      events: {
        onListChanged: (name, kind) => this.board.listChanged(name, kind),
        onResourceUpdated: (name, params) => this.board.resourceUpdated(name, params),
        onLost: (name, error) => this.#noteLost(name, error),
        onMoved: (_name, { why, message }) => log[LEVEL_OF_MOVE[why]](message),
      },
      toolDemand: toolDemandOf,
      onBug: (error) => this.#reportBug(error),
    });
    this.#claims = new Claims(claimsFile(config));
    const crewed = { listed: agents, run: this.#runAgent };
    const programs = () => {
      const { mark, onProcess } = this.processes;
      return { project: this.#config.project, env: rest.environment, mark, onProcess };
    };
    const { approve } = rest.approvals ?? {};
    this.board = new Board(config, this.pool, log, crewed, this.#claims, { programs, approve });
  }

  /** The configuration in effect. */
  get config(): Config {
    return this.#config;
  }

  /** What `status` reports. */
  get facts(): Facts {
    const { project, files, children } = this.#config;
    return {
      startedAt: this.#startedAt,
      project,
      files,
      sessions: [...this.#sessions].map(({ report }) => report),
      children: [...children.values()].map((child) => this.#childFacts(child)),
      runs: this.#runs?.underWay ?? [],
    };
  }

  /** Our number among the sessions that share processes; undefined before the first server starts. */
  get sessionNumber(): number | undefined {
    return this.#session;
  }

  /** Stops a server that this project doesn't share with others. */
  async endServer(request: EndRequest): Promise<EndOutcome> {
    const { endServers } = await import('./pool/end-servers.ts');
    return endServers(await this.#ownProcesses, request);
  }

  /** The current limits for a host's messages. */
  get hostLimits(): ReadLimits {
    const current = (): Config => this.#config;
    return {
      get limitBytes() {
        return current().messageBytes;
      },
      get shape() {
        return current().messageShape;
      },
    };
  }

  /**
   * The eras offered to a host that connects now. Only the handshake era allows the tool list to change, so
   * servers that are switched on and off need it.
   */
  get offeredEras(): 'both' | Era {
    const { era, children } = this.#config;
    if (era !== 'auto') return era;
    const isSwitched = (child: ChildConfig) => modeOf(child).ownTools === 'switched';
    return [...children.values()].some(isSwitched) ? 'handshake' : 'both';
  }

  /** Runs agents. Lazy: a host that only lists tools doesn't wait for it. */
  async crew(): Promise<Crew> {
    this.#crew ??= this.#openCrew();
    try {
      return await this.#crew;
    } catch (error) {
      this.#crew = undefined; // an update may have been replacing the file
      throw error;
    }
  }

  /** Puts a new configuration into effect. Unchanged servers keep running. */
  update(config: Config, agents: readonly ListedAgent[]): void {
    this.#config = config;
    this.board.update(config, { listed: agents, run: this.#runAgent });
    this.#crew?.then(({ runs }) => runs.admit()).catch((error) => this.#reportBug(error));
  }

  /** Stops processes a killed run left behind. A second call does nothing. */
  stopOrphans(): Promise<void> {
    this.#orphans ??= this.#stopOrphans();
    return this.#orphans;
  }

  async #stopOrphans(): Promise<void> {
    const { log } = this.#options;
    const { home, stopMs } = this.#config;
    try {
      const ended = await stopOrphans(join(home, 'run'), stopMs);
      if (ended > 0)
        log.info(`stopped processes that an earlier run left behind (process groups: ${ended}).`);
    } catch (error) {
      // Not needed for this run.
      log.warn(`could not stop processes that an earlier run left behind: ${String(error)}`);
    }
  }

  /** Marks and records our programs, so that a later run finds any that this one leaves behind. */
  get processes() {
    const { environment, isAssistant = false } = this.#options;
    return {
      mark: { ...this.#runNote.environment, ...depthMark(environment, isAssistant) },
      onProcess: (pid: number): void => void this.#note(() => this.#runNote.add(pid)),
    };
  }

  /** Opens the session for a newly connected host. */
  openSession(connection: Connection): ConnectedSession {
    const { log, isShared = false, approvals } = this.#options;
    const { flow } = this.pool;
    const session = new Session({
      openSurface: (audience: Audience) => this.board.open(audience),
      eras: () => this.offeredEras,
      seal: this.#seal,
      parking: this.#parking,
      questionMs: () => this.#config.questionMs,
      onReady: () => this.board.begin(),
      onRootsChanged: () => {
        // Shared servers don't ask for a host's roots.
        if (!isShared) this.pool.notifyAll('notifications/roots/list_changed');
      },
      onListed: approvals?.onListed,
      log,
      ...connection,
    });
    this.#sessions.add(session);
    flow.join(session);
    return {
      session,
      setFull: (isFull) => flow.setFull(session, isFull),
      close: () => {
        this.#sessions.delete(session);
        flow.leave(session);
        session.close();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#parking.close();
    const crew = await this.#crew?.catch(() => undefined); // the call that needed it has reported it
    await Promise.all([
      crew?.[Symbol.asyncDispose](),
      this.pool[Symbol.asyncDispose](),
      this.#orphans,
    ]);
    await this.#leaveProcesses();
    if (this.#ends.size > 0) await settleWithin(Promise.all(this.#ends), LAST_ENDS_MS);
    await this.board.calls[Symbol.asyncDispose]();
    await this.#claims.written();
    this.#runNote.remove();
  }

  readonly #runAgent: RunAgent = async (agent, args, options) => {
    const run = async () => (await this.crew()).runs.run(agent, args, options);
    const { audit } = this.board.calls;
    if (!audit) return run();
    const { auditRun } = await import('./trust/audit/watch.ts');
    const host = clientName(options.caller?.info);
    return auditRun({ agent: agent.toolName, host, args }, run, audit);
  };

  async #openCrew(): Promise<Crew> {
    const { Crew } = await import('./agents/crew.ts');
    const { environment: env, log, program, relaunch } = this.#options;
    const crew = new Crew({
      config: () => this.#config,
      env,
      log,
      program,
      relaunch,
      pool: this.pool,
      catalog: this.#catalog,
      start: (child, wish) => this.#startChild(child, wish),
      secretLookup: async () => (await this.#openSecrets()).lookup,
      ...this.processes,
      onLitter: (folders) => void this.#note(() => this.#runNote.noteFolders(folders)),
    });
    this.#runs = crew.runs;
    return crew;
  }

  /** The variables for a server's strings: the environment, and the secrets it refers to. */
  async #variablesFor(config: ChildConfig): Promise<NodeJS.ProcessEnv> {
    const { environment: env } = this.#options;
    // Only the servers of our own configuration files can use secrets; others are merely listed.
    const isOwn = this.#config.children.get(config.name)?.origin === config.origin;
    if (!isOwn || config.problem || secretReferences(config).length === 0) return env;
    return (await this.#openSecrets()).lookup.variablesFor(config);
  }

  async #openSecrets(): Promise<UserSecrets> {
    const { openSecrets } = await import('./trust/secrets/open.ts');
    this.#secrets ??= openSecrets(this.#config, this.#options.environment);
    return this.#secrets;
  }

  /** Starts a server, or joins its process if another session has started it. */
  async #startChild(config: ChildConfig, wish: Wish): Promise<Child> {
    const { log } = this.#options;
    const begin = performance.now();
    const { audit } = this.board.calls;
    const variables = await wish.cancellation.race(this.#variablesFor(config));
    const start = () => this.#join(config, wish, variables);
    const child = audit
      ? await (await import('./trust/audit/watch.ts')).auditStart(
          config.name,
          start,
          audit,
          this.#ends,
        )
      : await start();
    log.debug(`${config.name}: started in ${Math.round(performance.now() - begin)} ms.`);
    return child;
  }

  async #join(config: ChildConfig, wish: Wish, variables: NodeJS.ProcessEnv): Promise<Child> {
    const { log, environment: env, isShared = false, isAssistant = false } = this.#options;
    // Lazy: a host that only lists tools doesn't wait for it.
    const { joinServer } = await import('./pool/join.ts');
    const processes = await this.#openProcesses();
    const session = (this.#session ??= processes.openSession());
    const { project, home, maxMemoryMb } = this.#config;
    processes.limitMemory(session, maxMemoryMb);
    const { cancellation } = wish;
    const roots = await cancellation.race(this.#rootsFor(config, processes, cancellation));
    const noted: Wish = {
      ...wish,
      onNotification: (method, params) => {
        log.debug(`${config.name}: ${nameNotification(method)}`);
        wish.onNotification(method, params);
      },
    };
    return joinServer(config, noted, {
      processes,
      catalog: this.#catalog,
      session,
      project,
      home,
      env,
      variables,
      login: await cancellation.race(this.#loginFor(config, processes)),
      roots,
      ownRoots: isShared ? projectRoots(project) : undefined,
      credentials: await this.#credentialsFor(config, variables),
      confine: config.sandbox && (await this.#confineFor(config, config.sandbox)),
      openInside: this.#insideFor(config, processes),
      mark: depthMark(env, isAssistant),
      // Others may share a server that isn't known to ask for roots, and have other ones.
      served: { project, isShared: isShared && (!processes.isShared || roots !== undefined) },
      stderr: stderrSink(config, this.#config, log, processes),
      screen: this.#screenFor(config),
      askOutside: (question) => this.#askOutside(question),
      inputSchemaOf: (tool) => this.#inputSchemaOf(config, tool),
      onBug: (error) => log.error(`${config.name}: ${describeBug(error)}`),
    });
  }

  get #askOutside(): Board['askOutside'] {
    return this.#options.askOutside ?? ((question) => this.board.askOutside(question));
  }

  /** For assistants that run here. They get the same processes as everyone else. */
  #insideFor(child: ChildConfig, processes: Processes): OpenInside | undefined {
    const { openAssistant, log, program } = this.#options;
    if (!child.behind || !openAssistant) return undefined;
    return (send) => {
      const askOutside = this.#askOutside;
      const config = this.#config;
      const opened = openAssistant(child, { config, log, processes, program, askOutside, send });
      this.#inside.set(child.name, opened);
      return opened;
    };
  }

  /** Lazy: a host that only lists tools doesn't wait for it. */
  async #openProcesses(): Promise<Processes> {
    const { processes, beside } = this.#options;
    if (processes) return processes;
    if (beside) return beside.#openProcesses();
    this.#ownProcesses ??= import('./pool/processes.ts').then(
      (module) =>
        new module.Processes({
          note: this.#runNote,
          onBug: (error) => this.#reportBug(error),
          onProblem: (problem) => this.#options.log.debug(problem),
        }),
    );
    return this.#ownProcesses;
  }

  async #leaveProcesses(): Promise<void> {
    if (this.#session !== undefined) {
      (await this.#openProcesses()).limitMemory(this.#session, undefined);
    }
    await (await this.#ownProcesses)?.[Symbol.asyncDispose]();
  }

  /** What the login shell exports, for a server that inherits it. Without it, the server gets the base variables. */
  async #loginFor(
    { name, environment }: ChildConfig,
    processes: Processes,
  ): Promise<NodeJS.ProcessEnv | undefined> {
    if (environment !== 'login') return undefined;
    try {
      return await processes.loginEnvironment();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.log.warn(
        `${name}: could not read the environment of your login shell, so the server gets only the basic variables. ${reason}`,
      );
      return undefined;
    }
  }

  /** The session's roots, if it shares a server that asks for them. */
  async #rootsFor(
    config: ChildConfig,
    { isShared }: Processes,
    cancellation: Cancellation,
  ): Promise<string | undefined> {
    if (!isShared || !this.#catalog.get(config).asksForRoots) return undefined;
    // Several hosts share our servers, which then get the project as their root.
    if (this.#options.isShared) return this.#config.project;
    const late = new Error('The host did not say its roots in time.');
    try {
      return await withTimeout(
        ROOTS_MS,
        cancellation,
        () => late,
        async (limited) => {
          const question = { method: 'roots/list', params: undefined } as const;
          const { value } = await this.#askOutside({ ...question, cancellation: limited });
          return JSON.stringify(value);
        },
      );
    } catch (error) {
      return error === late ? `unknown ${this.#session}` : 'none';
    }
  }

  /** Undefined for an assistant, which is our own program and checks its server itself. */
  #screenFor(config: ChildConfig): Screen | undefined {
    if (config.behind) return undefined;
    return async (list) => {
      // A reload may have changed it. An agent's server can have the same name.
      const configured = this.#config.children.get(config.name);
      const current = configured?.origin === config.origin ? configured : config;
      if (current.toolChanges === 'off') return NOTHING_HELD;
      return (await this.#openReviewer()).review(current, list);
    };
  }

  /** Lazy: it is needed when the first list arrives. */
  async #openReviewer(): Promise<Reviewer> {
    const { openReviewer } = await import('./trust/changes/review.ts');
    const { log } = this.#options;
    this.#reviewer ??= openReviewer(this.#config.home, {
      log,
      servers: () => [...this.#config.children.values()].filter((child) => !isOff(child)),
      toolsOf: ({ name }) => (this.pool.mayKnow(name) ? this.pool.tools(name) : undefined),
    });
    return this.#reviewer;
  }

  /** The user has accepted changes to tools. */
  recheck(): void {
    this.board.recheck();
  }

  /** The input schema of a configured server's tool. Agents' servers are only asked for their lists. */
  #inputSchemaOf({ name }: ChildConfig, tool: string): unknown {
    if (!this.#config.children.has(name)) return undefined;
    return this.pool.tools(name)?.find((known) => known.name === tool)?.['inputSchema'];
  }

  /** The tokens `switchboard login` stored for a server. A header from the user's configuration overrides them. */
  async #credentialsFor(
    config: ChildConfig,
    variables: NodeJS.ProcessEnv,
  ): Promise<Credentials | undefined> {
    if (!config.remote || config.remote.type === 'ws' || config.problem) return undefined;
    const { openCredentials } = await import('./child/sign-in/open.ts');
    const { url, headers } = expandRemote(config, variables);
    const folder = tokenFolder(this.#config);
    const { environment: env } = this.#options;
    const openSeal = async () => (await this.#openSecrets()).store.sealer();
    return openCredentials({ childName: config.name, url, headers, folder, env, openSeal });
  }

  /** Lazy: most servers have no sandbox. */
  async #confineFor({ name }: ChildConfig, sandbox: Sandbox): Promise<Confine> {
    const { createConfine } = await import('./trust/sandbox/confine.ts');
    const { project, home, homeFolder } = this.#config;
    const { environment: env } = this.#options;
    return createConfine({ name, sandbox, project, home, homeFolder, env });
  }

  #childFacts(child: ChildConfig): Facts['children'][number] {
    const { name, show } = child;
    const { openAssistant } = this.#options;
    // The assistant is the session's own. What can be shared is the server behind it.
    const { share, shareBecause } = (openAssistant && child.behind) ?? child;
    const { state: current, ...own } = this.pool.report(name);
    const { pid, sessions, apart } = (child.behind && this.#inside.get(name)?.report()) ?? own;
    const report = { ...own, pid, sessions, apart };
    const shown = this.board.isActive(name) ? 'active' : current;
    const state = isOff(child) ? 'off' : shown;
    const tools = this.pool.tools(name)?.length;
    const refusedTools = this.pool.refusedTools(name);
    const changes = this.pool.changes(name);
    const more = {
      ...(refusedTools.length > 0 && { refusedTools }),
      ...(changes && { changes }),
    };
    return { name, show, ...report, state, tools, share, shareBecause, ...more };
  }

  #reportBug(error: unknown): void {
    this.#options.log.error(describeBug(error));
  }

  #noteLost(name: string, error: Error): void {
    this.#options.log.warn(error.message);
    this.board.lost(name);
  }

  async #note(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      // A read-only home must not keep servers from starting.
      this.#options.log.debug(`could not record the started processes: ${String(error)}`);
    }
  }
}

/** This user's cache of server lists. */
export function openCatalog({ home }: Config, onProblem: (problem: string) => void): Catalog {
  return new Catalog(join(home, 'cache', 'catalog'), onProblem);
}

/** Where a project's claims are cached. */
function claimsFile({ home, project }: Config): ClaimsFile {
  const path = join(home, 'cache', 'claims', `${shortDigest(project)}.json`);
  return { path, catalog: join(home, 'cache', 'catalog') };
}

/** The server chooses the method's name, so it may contain anything. */
function nameNotification(method: string): string {
  return /^notifications\/[a-z_/]{1,40}$/.test(method) ? method : 'an unknown notification';
}

/** A server's stderr goes to ours, to its own file, or nowhere. */
function stderrSink(
  { name, stderr }: ChildConfig,
  { home }: Config,
  log: Log,
  { hasLogs }: Processes,
): StderrSink {
  switch (stderr) {
    case 'inherit':
      return { write: (line) => log.child(name, line) };
    case 'log': {
      if (hasLogs) return { write: () => {} };
      const { servers: folder } = logPlaces(home);
      const write = createLogFile(folder, name, (problem) => log.warn(problem));
      return { write, file: join(folder, name) };
    }
    case 'drop':
      return { write: () => {} };
  }
}
