// The processes of all sessions in this program. Each session has its own pool; here the pools meet: sessions that need
// the same process share one, and everything else stays apart.
import { guard } from '../base/guard.ts';
import type { RunNote } from '../base/orphans.ts';
import { groupMemory } from '../base/process-table.ts';
import type { Lease } from './lease.ts';
import { MemoryWatch } from './memory-watch.ts';
import { differences, type ProcessIdentity } from './process-identity.ts';
import { type LeaseRequest, SharedServer } from './shared-server.ts';

export interface ProcessesOptions {
  /** Records the processes, so that a later run finds any that this one leaves behind. */
  readonly note: Pick<RunNote, 'environment' | 'add' | 'remove'>;
  /** Whether several sessions use them. */
  readonly isShared?: boolean;
  readonly onBug: (error: unknown) => void;
  /** Opens the log of a server's stderr. Without it, only sessions get what servers print. */
  readonly openLog?: (name: string) => (line: string) => void;
  /** Gets sentences for the debug log. */
  readonly onProblem?: (problem: string) => void;
  /** Replaces the login shell. */
  readonly readLogin?: () => Promise<NodeJS.ProcessEnv>;
  /** Replaces the measurement of how much memory process groups use. */
  readonly measureMemory?: typeof groupMemory;
  /** How often that is measured, in milliseconds. */
  readonly measureEveryMs?: number;
}

/** Its restart limit still counts for a while. */
const FORGET_AFTER_MS = 600_000;

export class Processes implements AsyncDisposable {
  readonly isShared: boolean;
  readonly #options: ProcessesOptions;
  /** By key. A key can have several: with different base variables, or bound to one session's roots. */
  readonly #servers = new Map<string, SharedServer[]>();
  readonly #memory: MemoryWatch;
  #sessions = 0;
  #login: Promise<NodeJS.ProcessEnv> | undefined;
  #isClosed = false;

  constructor(options: ProcessesOptions) {
    this.#options = options;
    this.isShared = options.isShared ?? false;
    this.#memory = new MemoryWatch({
      servers: () => this.servers(),
      measure: options.measureMemory ?? groupMemory,
      everyMs: options.measureEveryMs,
      onBug: options.onBug,
    });
  }

  /** Added to the environment of every process, to find it again. */
  get mark(): Record<string, string> {
    return this.#options.note.environment;
  }

  /** Whether what servers print is logged here, so that sessions needn't. */
  get hasLogs(): boolean {
    return this.#options.openLog !== undefined;
  }

  /** Called with every process that is started. */
  readonly onProcess = (pid: number): void => void this.#note(pid);

  async #note(pid: number): Promise<void> {
    try {
      await this.#options.note.add(pid);
    } catch (error) {
      // A read-only home must not keep servers from starting.
      this.#options.onProblem?.(`could not record the started processes: ${String(error)}`);
    }
  }

  /** A number for a new session. */
  openSession(): number {
    return ++this.#sessions;
  }

  /** The variables that the user's login shell exports, read once. A failure isn't kept. */
  loginEnvironment(): Promise<NodeJS.ProcessEnv> {
    const { readLogin = readFromShell } = this.#options;
    this.#login ??= readLogin().catch((error: unknown) => {
      this.#login = undefined;
      throw error;
    });
    return this.#login;
  }

  /** A share of the process with this identity, which is started if it doesn't run. */
  async lease(request: LeaseRequest): Promise<Lease> {
    if (this.#isClosed) throw new Error('There are no more processes.');
    let lease: Lease | undefined;
    while (!lease) lease = await this.#serverFor(request).lease(request);
    this.#memory.watch(request.tenant.maxMemoryMb);
    return lease;
  }

  /** The most that all servers together may use, in MB, as one session's configuration says. */
  limitMemory(session: number, maxMemoryMb: number | undefined): void {
    this.#memory.limitAll(session, maxMemoryMb);
  }

  *servers(): Iterable<SharedServer> {
    for (const servers of this.#servers.values()) yield* servers;
  }

  /** The running servers, or those with this name. */
  running(name?: string): SharedServer[] {
    const isMeant = (server: SharedServer): boolean => name === undefined || server.name === name;
    return [...this.servers()].filter((server) => server.isRunning && isMeant(server));
  }

  /** Stops everything, however many sessions use it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#memory.stop();
    await Promise.all([...this.servers()].map((server) => server.close()));
    this.#options.note.remove();
  }

  #serverFor(request: LeaseRequest): SharedServer {
    const { identity, tenant } = request;
    const servers = this.#servers.get(identity.key) ?? [];
    const found = servers.find((server) => server.isFor(identity, tenant.session));
    if (found) return found;
    const created = this.#create(identity, request.config.name);
    this.#servers.set(identity.key, [...servers, created]);
    return created;
  }

  /** In a scope of its own: the server must not keep a session in memory. */
  #create(identity: ProcessIdentity, name: string): SharedServer {
    return new SharedServer(identity, name, {
      apart: (server) => this.#apartFrom(server),
      onBug: this.#options.onBug,
      openLog: this.#options.openLog,
      onUnused: (server) => this.#forgetLater(server),
    });
  }

  /** The variables whose values keep other running processes of the same server apart. */
  #apartFrom(server: SharedServer): string[] {
    const { family } = server.identity;
    const others = [...this.servers()].filter(
      (other) => other !== server && other.live && other.identity.family === family,
    );
    return [...new Set(others.flatMap((one) => differences(server.identity, one.identity)))];
  }

  #forgetLater(server: SharedServer): void {
    const forget = (): void => {
      if (!server.isUnused) return;
      const { key } = server.identity;
      const left = (this.#servers.get(key) ?? []).filter((other) => other !== server);
      if (left.length > 0) this.#servers.set(key, left);
      else this.#servers.delete(key);
    };
    setTimeout(guard(this.#options.onBug, forget), FORGET_AFTER_MS).unref();
  }
}

/** Lazy: few servers inherit it. */
async function readFromShell(): Promise<NodeJS.ProcessEnv> {
  const { readLoginEnvironment } = await import('../base/login-shell.ts');
  return readLoginEnvironment();
}
