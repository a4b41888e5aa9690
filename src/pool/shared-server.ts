// A server with one identity, across all its processes: started once for all sessions that wait for it, not too often,
// and stopped when the last of them has left.
import { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import { settleWithin } from '../base/time.ts';
import type { StopReason } from '../child/link.ts';
import type { ServerEvents, StartedServer } from '../child/start.ts';
import type { ChildConfig } from '../config/config.ts';
import type { Era } from '../mcp/eras.ts';
import type { Catalog } from './catalog.ts';
import type { Lease, Move, Tenant } from './lease.ts';
import { LiveProcess } from './live-process.ts';
import { fitsBase, type ProcessIdentity } from './process-identity.ts';
import { type StartAttempt, Starter } from './starter.ts';

/** Starts the server with one session's environment. */
type OpenServer = (
  config: ChildConfig,
  attempt: StartAttempt & ServerEvents,
) => Promise<StartedServer>;

export interface LeaseRequest {
  readonly identity: ProcessIdentity;
  readonly config: ChildConfig;
  readonly tenant: Tenant;
  readonly catalog: Catalog;
  readonly cancellation: Cancellation;
  readonly preferredEra: Era;
  readonly open: OpenServer;
  /** Called if there is no lease, with the end of whatever was started for it. */
  readonly onStopping: (stopped: Promise<void>) => void;
}

interface Starting {
  readonly live: Promise<LiveProcess>;
  readonly cancellation: Cancellation;
}

interface SharedServerParts {
  readonly apart: (server: SharedServer) => readonly string[];
  readonly onBug: (error: unknown) => void;
  readonly openLog: ((name: string) => (line: string) => void) | undefined;
  /** No session uses it, and none waits for it. */
  readonly onUnused: (server: SharedServer) => void;
}

/** Sessions without calls leave at once, so this is long. */
const LEAVE_MS = 10_000;

export class SharedServer {
  readonly name: string;
  readonly #parts: SharedServerParts;
  readonly #starter = new Starter<LiveProcess>();
  readonly #waiting = new Set<Tenant>();
  #identity: ProcessIdentity;
  #live: LiveProcess | undefined;
  #starting: Starting | undefined;
  /** The process that its sessions were last told to leave. */
  #left: LiveProcess | undefined;
  #linger: NodeJS.Timeout | undefined;
  /** The only session that may use it, if others have different roots. */
  #only: number | undefined;
  #isClosed = false;

  constructor(identity: ProcessIdentity, name: string, parts: SharedServerParts) {
    this.#identity = identity;
    this.name = name;
    this.#parts = parts;
  }

  get identity(): ProcessIdentity {
    return this.#identity;
  }

  /** Its process, while it runs. */
  get live(): LiveProcess | undefined {
    return this.#live;
  }

  get isUnused(): boolean {
    return !this.#live && !this.#starting && !this.#starter.isRefused;
  }

  /** Whether it has a process, or is about to. */
  get isRunning(): boolean {
    return this.#live !== undefined || this.#starting !== undefined;
  }

  /** The sessions with calls in flight, and those that wait for its start. */
  get busyUsers(): number[] {
    const waiting = [...this.#waiting].map(({ session }) => session);
    return [...(this.#live?.busyUsers ?? []), ...waiting];
  }

  /** Whether a session with this identity may use it. */
  isFor({ key, base }: ProcessIdentity, session: number): boolean {
    if (!this.#isOpenTo(session)) return false;
    if (key !== this.#identity.key) return false;
    return this.#live || this.#starting ? fitsBase(this.#identity.base, base) : true;
  }

  /** Undefined if it turns out that the session needs another one. */
  async lease(request: LeaseRequest): Promise<Lease | undefined> {
    const { tenant, cancellation } = request;
    clearTimeout(this.#linger);
    if (this.#live) return this.#live.join(tenant);
    this.#waiting.add(tenant);
    this.#starting ??= this.#start(request);
    const { live } = this.#starting;
    try {
      const started = await cancellation.race(live);
      // The server may have asked another session for its roots.
      return this.#isOpenTo(tenant.session) ? started.join(tenant) : undefined;
    } catch (error) {
      this.#waiting.delete(tenant);
      if (this.#waiting.size === 0) this.#cancelStart(error);
      request.onStopping(this.#starter.stopped);
      throw error;
    } finally {
      this.#waiting.delete(tenant);
      this.#stopIfLeft();
    }
  }

  #isOpenTo(session: number): boolean {
    return this.#only === undefined || this.#only === session;
  }

  /** Everyone who waited for it has left at the last moment. */
  #stopIfLeft(): void {
    const live = this.#live;
    if (!live || this.#waiting.size > 0 || live.sessions > 0 || live.isLingering) return;
    void this.#stop(live, undefined);
  }

  /** Stops it whatever it is doing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#linger);
    this.#cancelStart(new SwitchboardError('CANCELLED', 'Switchboard is shutting down.'));
    await this.#left?.stop();
    if (this.#live) await this.#stop(this.#live, undefined);
    await this.#starter.stopped;
  }

  /** Restarts it with its next use. Calls in flight finish, and later ones wait for the new process. */
  restart(message: string): void {
    const live = this.#live;
    if (!live) return;
    this.#live = undefined;
    live.moveAll({ why: 'memory', message });
    this.#left = live;
    const { ended } = live.started.link;
    const left = live.isBusy ? ended : settleWithin(ended, LEAVE_MS);
    const gone = left.then(() => live.stop());
    this.#starter.alsoWaitFor(gone);
  }

  /** Stops it on the user's behalf, whatever it is doing. Resolves when its process is gone. */
  async end(move: Move): Promise<void> {
    this.#cancelStart(new SwitchboardError('CANCELLED', move.message));
    const live = this.#live;
    if (live) {
      this.#live = undefined;
      clearTimeout(this.#linger);
      this.#left = live;
      live.moveAll(move);
      this.#starter.alsoWaitFor(live.stop());
    }
    const { stopped } = this.#starter;
    this.#starter.noteIdle(); // the next start isn't the server's fault
    this.#parts.onUnused(this);
    await stopped;
  }

  #start(request: LeaseRequest): Starting {
    const { config, catalog, preferredEra, open, identity } = request;
    this.#identity = identity;
    const cancellation = new Cancellation();
    const started = this.#starter.start(config, {
      catalog,
      cancellation,
      preferredEra,
      attempt: (which, attempt) => {
        const live = this.#createLive(config);
        return live.begin((events) => open(which, { ...attempt, ...events }));
      },
    });
    const starting: Starting = {
      cancellation,
      live: started.then(
        (live) => {
          if (this.#starting === starting) this.#starting = undefined;
          if (cancellation.reason) {
            this.#starter.alsoWaitFor(live.stop());
            throw cancellation.reason;
          }
          this.#live = live;
          return live;
        },
        (error: unknown) => {
          if (this.#starting === starting) this.#starting = undefined;
          this.#parts.onUnused(this);
          throw error;
        },
      ),
    };
    starting.live.catch(() => {}); // everyone who waits gets it
    return starting;
  }

  /** The next start waits for the end of this one. */
  #cancelStart(error: unknown): void {
    const starting = this.#starting;
    if (!starting) return;
    this.#starting = undefined;
    starting.cancellation.cancel(error instanceof Error ? error : new Error(String(error)));
    this.#starter.alsoWaitFor(settled(starting.live));
  }

  #createLive({ stderr }: ChildConfig): LiveProcess {
    const { onBug, apart, openLog } = this.#parts;
    const live: LiveProcess = new LiveProcess({
      name: this.name,
      hasSameRoots: this.#identity.hasRoots,
      waiting: () => this.#waiting,
      apart: () => apart(this),
      onUnused: (why, lingerMs) => this.#noteUnused(live, why, lingerMs),
      onEnded: () => this.#noteEnded(live),
      onClosed: (session) => {
        this.#only = session;
      },
      onBug,
      logLine: stderr === 'drop' ? undefined : openLog?.(this.name),
    });
    return live;
  }

  #noteUnused(live: LiveProcess, why: StopReason | undefined, lingerMs: number): Promise<void> {
    if (why !== undefined || lingerMs === 0 || this.#isClosed || this.#live !== live) {
      return this.#stop(live, why);
    }
    const stop = guard(this.#parts.onBug, () => void this.#stop(live, undefined));
    this.#linger = setTimeout(stop, lingerMs).unref();
    return Promise.resolve();
  }

  #stop(live: LiveProcess, why: StopReason | undefined): Promise<void> {
    if (this.#live === live) this.#live = undefined;
    if (why === 'idle') this.#starter.noteIdle();
    const stopped = live.stop();
    this.#starter.alsoWaitFor(stopped);
    this.#parts.onUnused(this);
    return stopped;
  }

  /** On its own: `#live` is no longer set if it was stopped. */
  #noteEnded(live: LiveProcess): void {
    if (this.#live !== live) return;
    this.#live = undefined;
    clearTimeout(this.#linger);
    this.#starter.noteEnd(live.hasAnswered, live.stop());
    this.#parts.onUnused(this);
  }
}

/** Resolves when the promise is settled, either way. */
async function settled(promise: Promise<unknown>): Promise<void> {
  await Promise.allSettled([promise]);
}
