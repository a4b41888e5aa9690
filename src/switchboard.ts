// Puts the layers together: from a configuration to the pool of its children and the surface that
// shows them.
import { join } from 'node:path';
import type { Log } from './base/log.ts';
import { createLogFile } from './base/log-file.ts';
import { endOrphans, RunNote } from './base/orphans.ts';
import type { Child } from './child/child.ts';
import type { Credentials } from './child/credentials.ts';
import { startChild } from './child/start.ts';
import type { ChildConfig, Config } from './config/config.ts';
import { expandRemote } from './config/expand.ts';
import type { Facts } from './host/status-report.ts';
import { Catalog } from './pool/catalog.ts';
import { Pool } from './pool/pool.ts';
import type { StartAttempt } from './pool/slot.ts';
import { Board } from './surface/board.ts';

export interface SwitchboardOptions {
  readonly config: Config;
  readonly log: Log;
  readonly env: NodeJS.ProcessEnv;
}

/** Milliseconds between SIGTERM and SIGKILL for what a killed run left behind. */
const ORPHAN_GRACE_MS = 2_000;

export class Switchboard implements AsyncDisposable {
  readonly pool: Pool;
  readonly board: Board;
  readonly #options: SwitchboardOptions;
  readonly #startedAt = new Date().toISOString();
  #config: Config;
  readonly #runNote: RunNote;

  constructor(options: SwitchboardOptions) {
    const { config, log } = options;
    this.#options = options;
    this.#config = config;
    this.#runNote = new RunNote(join(config.home, 'run'));
    this.pool = new Pool(config.children, {
      start: (child, attempt) => this.#startChild(child, attempt),
      catalog: openCatalog(config, (problem) => log.warn(problem)),
      events: {
        onToolsChanged: (name) => this.board.toolsChanged(name),
        onLost: (name) => this.#noteLost(name),
      },
    });
    this.board = new Board(config, this.pool, log);
  }

  /** What it is made of and what its children do, for people who look. */
  get facts(): Omit<Facts, 'sessions'> {
    const { project, files, children } = this.#config;
    return {
      startedAt: this.#startedAt,
      project,
      files,
      children: [...children.values()].map((child) => this.#childFacts(child)),
    };
  }

  /** Takes over a new configuration. Children that it does not concern go on. */
  update(config: Config): void {
    this.#config = config;
    this.pool.update(config.children);
    this.board.update(config);
  }

  /** Ends what an earlier run that was killed has left behind. */
  async endOrphans(): Promise<void> {
    const { config, log } = this.#options;
    try {
      const ended = await endOrphans(join(config.home, 'run'), ORPHAN_GRACE_MS);
      if (ended > 0)
        log.info(`ended what an earlier run had left behind (process groups: ${ended}).`);
    } catch (error) {
      // Not being able to tidy up after others must not end this run.
      log.warn(`could not end what an earlier run left behind: ${String(error)}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pool[Symbol.asyncDispose]();
    this.#runNote.remove();
  }

  async #startChild(config: ChildConfig, attempt: StartAttempt): Promise<Child> {
    const { log, env } = this.#options;
    const begin = performance.now();
    const child = await startChild(config, {
      ...attempt,
      env,
      credentials: await this.#credentialsFor(config),
      mark: this.#runNote.environment,
      onProcess: (pid) => void this.#noteProcess(pid),
      onStderr: stderrSink(config, this.#options),
      onNotification: (method) => {
        log.debug(`${config.name}: ${nameNotification(method)}`);
        if (method === 'notifications/tools/list_changed') attempt.onToolsChanged();
      },
      onBug: (error) => log.error(`${config.name}: ${String(error)}`),
    });
    log.debug(`${config.name}: started in ${Math.round(performance.now() - begin)} ms.`);
    return child;
  }

  /** What `switchboard login` has kept for a child; a header of the user's own takes its place. */
  async #credentialsFor(config: ChildConfig): Promise<Credentials | undefined> {
    if (!config.remote || config.problem) return undefined;
    const { openCredentials } = await import('./child/sign-in/open.ts');
    const { url, headers } = expandRemote(config, this.#options.env);
    const folder = join(this.#config.home, 'tokens');
    return openCredentials({ childName: config.name, url, headers, folder });
  }

  #childFacts({ name, show }: ChildConfig): Facts['children'][number] {
    const { state, ...report } = this.pool.report(name);
    const shown = this.board.isActive(name) ? 'active' : state;
    const tools = this.pool.tools(name)?.length;
    return { name, show, ...report, state: show === 'off' ? 'off' : shown, tools };
  }

  #noteLost(name: string): void {
    this.#options.log.warn(this.pool.errorOf(name)?.message ?? `${name} has ended.`);
    this.board.lost(name);
  }

  async #noteProcess(pid: number): Promise<void> {
    try {
      await this.#runNote.add(pid);
    } catch (error) {
      // A home that cannot be written is no reason not to work.
      this.#options.log.debug(`could not note process ${pid}: ${String(error)}`);
    }
  }
}

/** What children were found to have, as it is kept for this user. */
export function openCatalog({ home }: Config, onProblem: (problem: string) => void): Catalog {
  return new Catalog(join(home, 'cache', 'catalog'), onProblem);
}

/** A method's name is the child's own text, in which anything may stand. */
function nameNotification(method: string): string {
  return /^notifications\/[a-z_/]{1,40}$/.test(method) ? method : 'a notification of its own';
}

/** Where a child's stderr goes: to ours, to a file of its own, or nowhere. */
function stderrSink({ name, stderr }: ChildConfig, { config, log }: SwitchboardOptions) {
  switch (stderr) {
    case 'inherit':
      return (line: string) => log.child(name, line);
    case 'log':
      return createLogFile(join(config.home, 'logs'), name, (problem) => log.warn(problem));
    case 'drop':
      return () => {};
  }
}
