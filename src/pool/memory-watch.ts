// Watches how much memory servers use, and restarts those above their limit, or the largest if all of them together are
// above theirs. Only between calls: a busy server gets some time to become idle, and then new calls wait until the
// ones in flight have finished. Nothing is measured unless there is a limit.
import { guard } from '../base/guard.ts';
import type { SharedServer } from './shared-server.ts';

export interface MemoryWatchOptions {
  readonly servers: () => Iterable<SharedServer>;
  /** The memory of process groups, in bytes. */
  readonly measure: (leaders: readonly number[]) => Promise<ReadonlyMap<number, number>>;
  /** How often it looks, in milliseconds. */
  readonly everyMs?: number | undefined;
  readonly onBug: (error: unknown) => void;
}

const LOOK_MS = 5_000;
/** How long a server that is never idle may stay above its limit. */
const BUSY_MS = 30_000;
const MB = 1 << 20;

export class MemoryWatch {
  readonly #options: MemoryWatchOptions;
  /** The limit for all servers, by session. */
  readonly #limits = new Map<number, number>();
  #hasLimits = false;
  /** Since when busy servers are above their limit. */
  readonly #above = new WeakMap<object, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
  }

  /** A server has this limit. */
  watch(maxMemoryMb: number | undefined): void {
    if (maxMemoryMb !== undefined) this.#hasLimits = true;
    if (this.#hasLimits || this.#limits.size > 0) this.#lookLater();
  }

  limitAll(session: number, maxMemoryMb: number | undefined): void {
    if (maxMemoryMb === undefined) this.#limits.delete(session);
    else this.#limits.set(session, maxMemoryMb);
    this.watch(undefined);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #lookLater(): void {
    const look = async (): Promise<void> => {
      this.#timer = undefined;
      const running = [...this.#options.servers()].filter(({ live }) => live?.pid !== undefined);
      if (running.length === 0) return; // the next start looks again
      await this.#look(running);
      this.#lookLater();
    };
    const { onBug: failed, everyMs = LOOK_MS } = this.#options;
    const start = guard(failed, () => void look().catch(failed));
    this.#timer ??= setTimeout(start, everyMs).unref();
  }

  async #look(running: readonly SharedServer[]): Promise<void> {
    const memory = await this.#options.measure(running.flatMap(({ live }) => live?.pid ?? []));
    const used = running.flatMap((server) => {
      const bytes = memory.get(server.live?.pid ?? 0);
      return bytes === undefined ? [] : { server, mb: Math.ceil(bytes / MB) };
    });
    for (const { server, mb } of used) {
      const limit = server.live?.maxMemoryMb;
      if (limit === undefined || mb <= limit) continue;
      this.#restart(server, `used ${mb} MB of memory, more than its limit of ${limit} MB`);
    }
    this.#lookAtAll(used);
  }

  #lookAtAll(used: readonly { readonly server: SharedServer; readonly mb: number }[]): void {
    const limit = Math.min(...this.#limits.values());
    const all = used.reduce((sum, { mb }) => sum + mb, 0);
    if (all <= limit) return;
    const [largest] = [...used].sort((a, b) => b.mb - a.mb);
    if (!largest) return;
    const { server, mb } = largest;
    const about = `used ${mb} MB of memory, and all servers ${all} MB, more than the limit of ${limit} MB`;
    this.#restart(server, about);
  }

  #restart(server: SharedServer, about: string): void {
    const { live } = server;
    if (!live) return;
    const since = this.#above.get(live) ?? performance.now();
    this.#above.set(live, since);
    if (live.isBusy && performance.now() - since < BUSY_MS) return;
    server.restart(`Server "${server.name}" ${about}. It restarts the next time it's used.`);
  }
}
