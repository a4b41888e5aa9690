// Puts the layers together: from a configuration to the pool of its children, the runs of its agents
// and the surface that shows them.
import { join } from 'node:path';
import type { ListedAgent } from './agents/agent.ts';
import type { Crew } from './agents/crew.ts';
import type { RunAgent, Runs } from './agents/runs.ts';
import { depthMark } from './assistant/depth.ts';
import { shortDigest } from './base/digest.ts';
import { describeBug } from './base/errors.ts';
import type { Log } from './base/log.ts';
import { createLogFile } from './base/log-file.ts';
import { endOrphans, RunNote } from './base/orphans.ts';
import type { Child } from './child/child.ts';
import type { Credentials } from './child/credentials.ts';
import type { ChildConfig, Config } from './config/config.ts';
import { expandRemote } from './config/server/expand.ts';
import type { Facts } from './host/status-report.ts';
import type { Era } from './mcp/eras.ts';
import { Catalog } from './pool/catalog.ts';
import { Pool } from './pool/pool.ts';
import type { StartAttempt } from './pool/starter.ts';
import type { ReadLimits } from './rpc/framing.ts';
import { Parking } from './session/parking.ts';
import { StateSeal } from './session/request-state.ts';
import { Board } from './surface/board.ts';
import { Claims, type ClaimsFile } from './surface/claims.ts';
import type { Audience } from './surface/surface.ts';

export interface SwitchboardOptions {
  readonly config: Config;
  readonly log: Log;
  readonly env: NodeJS.ProcessEnv;
  /** The agents that were found. */
  readonly agents?: readonly ListedAgent[];
  /** The program that runs now, as it was started, where that is known. */
  readonly program?: string | undefined;
  /** Whether what is started here is started for an assistant. */
  readonly isAssistant?: boolean;
  /** Whether several hosts may be served at once. */
  readonly isShared?: boolean;
}

export class Switchboard implements AsyncDisposable {
  readonly pool: Pool;
  readonly board: Board;
  /** Without what a new configuration brings: that is `#config`. */
  readonly #options: Omit<SwitchboardOptions, 'config' | 'agents'>;
  readonly #startedAt = new Date().toISOString();
  #config: Config;
  #crew: Promise<Crew> | undefined;
  /** The crew's, once it is there. */
  #runs: Runs | undefined;
  #orphans: Promise<void> | undefined;
  readonly #catalog: Catalog;
  readonly #claims: Claims;
  readonly #runNote: RunNote;
  readonly #seal = new StateSeal();
  readonly #parking = new Parking();

  constructor(options: SwitchboardOptions) {
    const { config, agents = [], ...rest } = options;
    const { log } = rest;
    this.#options = rest;
    this.#config = config;
    this.#runNote = new RunNote(join(config.home, 'run'));
    this.#catalog = openCatalog(config, (problem) => log.warn(problem));
    this.pool = new Pool(config.children, {
      start: (child, attempt) => this.#startChild(child, attempt),
      catalog: this.#catalog,
      events: {
        onListChanged: (name, kind) => this.board.listChanged(name, kind),
        onResourceUpdated: (name, params) => this.board.resourceUpdated(name, params),
        onLost: (name, error) => this.#noteLost(name, error),
      },
      onBug: (error) => this.#reportBug(error),
    });
    this.#claims = new Claims(claimsFile(config));
    const crewed = { listed: agents, run: this.#runAgent };
    this.board = new Board(config, this.pool, log, crewed, this.#claims);
  }

  /** What it is made of and what its children do, for people who look. */
  get facts(): Omit<Facts, 'sessions'> {
    const { project, files, children } = this.#config;
    return {
      startedAt: this.#startedAt,
      project,
      files,
      children: [...children.values()].map((child) => this.#childFacts(child)),
      runs: this.#runs?.underWay ?? [],
    };
  }

  /** The limits of a host's messages. They follow a reload. */
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
   * The eras that a host which begins now is offered. A reload may change them. Only the handshake era allows the
   * tool list to change, so servers that are switched on and off need it.
   */
  get offeredEras(): 'both' | Era {
    const { era, children } = this.#config;
    if (era !== 'auto') return era;
    for (const { show } of children.values()) if (show === 'flip') return 'handshake';
    return 'both';
  }

  /** Those who run agents. Loaded when they are needed: a host that only lists tools does not wait for it. */
  crew(): Promise<Crew> {
    this.#crew ??= this.#openCrew();
    return this.#crew;
  }

  /** Takes over a new configuration. Children that it does not concern go on. */
  update(config: Config, agents: readonly ListedAgent[] = []): void {
    this.#config = config;
    this.board.update(config, { listed: agents, run: this.#runAgent });
    this.#crew?.then(({ runs }) => runs.letIn()).catch((error) => this.#reportBug(error));
  }

  /** Ends what an earlier run that was killed has left behind. The second call does nothing. */
  endOrphans(): Promise<void> {
    this.#orphans ??= this.#endOrphans();
    return this.#orphans;
  }

  async #endOrphans(): Promise<void> {
    const { log } = this.#options;
    const { home, stopMs } = this.#config;
    try {
      const ended = await endOrphans(join(home, 'run'), stopMs);
      if (ended > 0)
        log.info(`ended what an earlier run had left behind (process groups: ${ended}).`);
    } catch (error) {
      // Not being able to tidy up after others must not end this run.
      log.warn(`could not end what an earlier run left behind: ${String(error)}`);
    }
  }

  /** What marks a process that is started for us, and notes it, so that a later run finds it. */
  get processes() {
    const { env, isAssistant = false } = this.#options;
    return {
      mark: { ...this.#runNote.environment, ...depthMark(env, isAssistant) },
      onProcess: (pid: number): void => void this.#note(() => this.#runNote.add(pid)),
    };
  }

  /** What is the same for all sessions: how they keep state, and what they change for all children. */
  get sessionParts() {
    return {
      openSurface: (audience: Audience) => this.board.open(audience),
      eras: () => this.offeredEras,
      seal: this.#seal,
      parking: this.#parking,
      questionMs: () => this.#config.questionMs,
      onReady: () => this.board.begin(),
      onRootsChanged: () => {
        // Servers that are shared do not ask for a host's roots.
        if (!this.#options.isShared) this.pool.notifyAll('notifications/roots/list_changed');
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#parking.close();
    const crew = await this.#crew;
    await Promise.all([
      crew?.[Symbol.asyncDispose](),
      this.pool[Symbol.asyncDispose](),
      this.#orphans,
    ]);
    await this.#claims.written();
    this.#runNote.remove();
  }

  readonly #runAgent: RunAgent = async (...run) => (await this.crew()).runs.run(...run);

  async #openCrew(): Promise<Crew> {
    const { Crew } = await import('./agents/crew.ts');
    const { env, log, program } = this.#options;
    const crew = new Crew({
      config: () => this.#config,
      env,
      log,
      program,
      pool: this.pool,
      catalog: this.#catalog,
      start: (child, attempt) => this.#startChild(child, attempt),
      ...this.processes,
      onLitter: (folders) => void this.#note(() => this.#runNote.noteFolders(folders)),
    });
    this.#runs = crew.runs;
    return crew;
  }

  async #startChild(config: ChildConfig, attempt: StartAttempt): Promise<Child> {
    const { log, env, isShared = false } = this.#options;
    const begin = performance.now();
    // Loaded with the first child: a host that only lists tools does not wait for it.
    const { startChild } = await import('./child/start.ts');
    const child = await startChild(config, {
      ...attempt,
      env,
      credentials: await this.#credentialsFor(config),
      ...this.processes,
      onStderr: stderrSink(config, this.#config, log),
      onNotification: (method, params) => {
        log.debug(`${config.name}: ${nameNotification(method)}`);
        attempt.onNotification(method, params);
      },
      served: { project: this.#config.project, isShared },
      askOutside: (question) => this.board.askOutside(question),
      inputSchemaOf: (tool) => this.#inputSchemaOf(config, tool),
      onBug: (error) => log.error(`${config.name}: ${describeBug(error)}`),
    });
    log.debug(`${config.name}: started in ${Math.round(performance.now() - begin)} ms.`);
    return child;
  }

  /** What a tool takes, of a child that is one of ours; those of agents are only asked for their lists. */
  #inputSchemaOf({ name }: ChildConfig, tool: string): unknown {
    if (!this.#config.children.has(name)) return undefined;
    return this.pool.tools(name)?.find((known) => known.name === tool)?.['inputSchema'];
  }

  /** What `switchboard login` has kept for a child; a header of the user's own takes its place. */
  async #credentialsFor(config: ChildConfig): Promise<Credentials | undefined> {
    if (!config.remote || config.remote.type === 'ws' || config.problem) return undefined;
    const { openCredentials } = await import('./child/sign-in/open.ts');
    const { url, headers } = expandRemote(config, this.#options.env);
    const folder = join(this.#config.home, 'tokens');
    return openCredentials({ childName: config.name, url, headers, folder });
  }

  #childFacts({ name, show }: ChildConfig): Facts['children'][number] {
    const { state, ...report } = this.pool.report(name);
    const shown = this.board.isActive(name) ? 'active' : state;
    const tools = this.pool.tools(name)?.length;
    const refusedTools = this.pool.refusedTools(name);
    const more = refusedTools.length > 0 && { refusedTools };
    return { name, show, ...report, state: show === 'off' ? 'off' : shown, tools, ...more };
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
      // A home that cannot be written is no reason not to work.
      this.#options.log.debug(`could not note what was started: ${String(error)}`);
    }
  }
}

/** What children were found to have, as it is kept for this user. */
export function openCatalog({ home }: Config, onProblem: (problem: string) => void): Catalog {
  return new Catalog(join(home, 'cache', 'catalog'), onProblem);
}

/** Where a project's claims are cached. */
function claimsFile({ home, project }: Config): ClaimsFile {
  const path = join(home, 'cache', 'claims', `${shortDigest(project)}.json`);
  return { path, catalog: join(home, 'cache', 'catalog') };
}

/** A method's name is the child's own text, in which anything may stand. */
function nameNotification(method: string): string {
  return /^notifications\/[a-z_/]{1,40}$/.test(method) ? method : 'a notification of its own';
}

/** Where a child's stderr goes: to ours, to a file of its own, or nowhere. */
function stderrSink({ name, stderr }: ChildConfig, { home }: Config, log: Log) {
  switch (stderr) {
    case 'inherit':
      return (line: string) => log.child(name, line);
    case 'log':
      return createLogFile(join(home, 'logs'), name, (problem) => log.warn(problem));
    case 'drop':
      return () => {};
  }
}
