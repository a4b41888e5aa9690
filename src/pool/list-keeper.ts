// Keeps one server's lists up to date: fetches them after each start and after each announced change. Changes
// announced during a fetch share the next one.
import { guard } from '../base/guard.ts';
import type { Child } from '../child/child.ts';
import type { ListKind } from '../child/list-pages.ts';
import { METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';

export interface ListKeeperOptions {
  /** The server, while it runs. */
  readonly running: () => Child | undefined;
  readonly remember: (kind: ListKind, items: readonly unknown[]) => void;
  readonly onBug: (error: unknown) => void;
}

/** Changes within this time are fetched together. */
const SETTLE_MS = 100;
/** A server that keeps announcing changes is asked less and less often, until it stops. */
const LONGEST_SETTLE_MS = 30_000;
const QUIET_MS = 60_000;

export class ListKeeper {
  readonly #options: ListKeeperOptions;
  /** The lists to fetch again. */
  readonly #stale = new Set<ListKind>();
  #timer: NodeJS.Timeout | undefined;
  #listing: Promise<void> = Promise.resolve();
  #announcedAt = -Infinity;
  #settleMs = SETTLE_MS;
  #isClosed = false;

  constructor(options: ListKeeperOptions) {
    this.#options = options;
  }

  /** Fetches those of the lists that the server says it has. */
  refresh(child: Child, ...kinds: ListKind[]): void {
    const { capabilities } = child.greeting;
    const isOffered = (kind: ListKind): boolean => {
      if (kind === 'tools') return true; // many servers don't declare them
      return capabilities[kind === 'prompts' ? 'prompts' : 'resources'] !== undefined;
    };
    this.#refreshIn(SETTLE_MS, kinds.filter(isOffered));
  }

  /** The server has announced that these have changed. */
  noteAnnounced(...kinds: ListKind[]): void {
    const now = performance.now();
    const isQuiet = now - this.#announcedAt > QUIET_MS;
    this.#announcedAt = now;
    if (!this.#timer) {
      this.#settleMs = isQuiet ? SETTLE_MS : Math.min(2 * this.#settleMs, LONGEST_SETTLE_MS);
    }
    this.#refreshIn(this.#settleMs, kinds);
  }

  /** Fetches stale lists now. Rounds don't overlap, so an older list never overwrites a newer one. */
  refreshNow(): Promise<void> {
    this.#listing = this.#listing.then(async () => {
      const child = this.#options.running();
      const kinds = [...this.#stale];
      this.#stale.clear();
      if (child) await Promise.all(kinds.map((kind) => this.#ask(child, kind)));
    });
    return this.#listing;
  }

  /** Resolves when pending lists have arrived. */
  async learned(): Promise<void> {
    if (this.#stale.size > 0) await this.refreshNow();
    await this.#listing;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #refreshIn(ms: number, kinds: readonly ListKind[]): void {
    for (const kind of kinds) this.#stale.add(kind);
    if (this.#isClosed || this.#stale.size === 0) return;
    const refresh = (): void => {
      this.#timer = undefined;
      void this.refreshNow();
    };
    this.#timer ??= setTimeout(guard(this.#options.onBug, refresh), ms).unref();
  }

  async #ask(child: Child, kind: ListKind): Promise<void> {
    // If it fails, the known list stays.
    const items = await listAll(child, kind).catch(() => undefined);
    if (items && !this.#isClosed) guard(this.#options.onBug, this.#options.remember)(kind, items);
  }
}

/** Fetches a whole list; empty if the server doesn't know the method. */
export async function listAll(child: Child, kind: ListKind): Promise<readonly unknown[]> {
  try {
    const options = { isUse: false };
    return kind === 'tools' ? await child.listTools(options) : await child.list(kind, options);
  } catch (error) {
    if (error instanceof RpcError && error.code === METHOD_NOT_FOUND) return [];
    throw error;
  }
}
