// One child's place in the pool, through all its lives: started once for everybody who asks, used
// until it ends, stopped when nobody has used it for a while, started again when it is needed.
import { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import { soon } from '../base/time.ts';
import type { Child, ListKind } from '../child/child.ts';
import type { ChildConfig } from '../config/config.ts';
import type { RefusedTool } from '../mcp/clean-lists.ts';
import type { Era } from '../mcp/eras.ts';
import type { LogLevel } from '../mcp/logging.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import type { Catalog, Lists } from './catalog.ts';
import type { Flow } from './flow.ts';
import { ListKeeper, listAll } from './list-keeper.ts';
import { type StartChild, Starter } from './starter.ts';

/** What a slot tells the pool's owner. */
export interface SlotEvents {
  /** What is known of a list is something else than before. */
  readonly onListChanged: (name: string, kind: ListKind) => void;
  /** A resource that is watched has changed: the child's own words. */
  readonly onResourceUpdated: (name: string, params: Verbatim) => void;
  /** The child was running and has ended by itself. */
  readonly onLost: (name: string, error: Error) => void;
}

/**
 * How much hosts depend on a child's tool list: not at all, they see the tools once known, or they can't
 * be shown the child without it.
 */
export type ToolDemand = 'none' | 'shown' | 'required';

export interface SlotParts {
  readonly start: StartChild;
  readonly catalog: Catalog;
  readonly events: SlotEvents;
  readonly flow: Flow;
  /** Without it, no host depends on a tool list. */
  readonly toolDemand?: (config: ChildConfig) => ToolDemand;
  /** The end of another child that this one replaces. */
  readonly after?: Promise<void> | undefined;
  readonly onBug: (error: unknown) => void;
}

/** `ready`: it runs. `idle`: nobody has needed it, or not for a while. */
export type ChildState = 'idle' | 'warming' | 'ready' | 'error';

/** A child as a person wants to know it. */
export interface ChildReport {
  readonly state: ChildState;
  readonly pid: number | undefined;
  readonly uptimeMs: number | undefined;
  readonly calls: number;
  readonly lastError: string | undefined;
}

interface Running {
  readonly child: Promise<Child>;
  readonly cancellation: Cancellation;
  /** The child, once it has started: the short way for every use after the first. */
  started: Child | undefined;
  startedAt: number;
  /** The log level that the child was last told. */
  logLevel: LogLevel | undefined;
}

/** What costs a model nothing and is shown of every child. */
const OTHERS = ['prompts', 'resources', 'templates'] as const;

export class Slot {
  #config: ChildConfig;
  readonly #parts: SlotParts;
  readonly #starter: Starter;
  readonly #keeper = new ListKeeper({
    running: () => this.#running?.started,
    remember: (kind, items) => this.remember(kind, items),
    onBug: (error) => this.#parts.onBug(error),
  });
  #running: Running | undefined;
  #warming: Promise<void> | undefined;
  #watched: ReadonlySet<string> = new Set();
  #logLevel: LogLevel | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** It is to be started without anybody asking for it, and that has not happened yet. */
  #isDue: boolean;
  /** The configuration has it no more: it ends when nobody waits for it. */
  #isRetired = false;
  #isClosed = false;
  #callsBefore = 0;
  /** Why it cannot be used at the moment. */
  #error: Error | undefined;
  #lastError: string | undefined;

  constructor(config: ChildConfig, parts: SlotParts) {
    this.#config = config;
    this.#parts = parts;
    this.#isDue = config.start === 'eager';
    this.#starter = new Starter({
      start: parts.start,
      catalog: parts.catalog,
      onNotification: (method, params) => this.#noteNotification(method, params),
      after: parts.after,
    });
  }

  get config(): ChildConfig {
    return this.#config;
  }

  /** New settings for a child that may go on running. */
  set config(config: ChildConfig) {
    this.#config = config;
    const child = this.#running?.started;
    if (!child) return;
    child.reconfigure(config);
    this.#watchIdleness(child);
    // What is known may be kept under another name now.
    this.#keeper.refresh(child, 'tools', ...OTHERS);
  }

  get state(): ChildState {
    if (this.#warming) return 'warming';
    if (this.#error) return 'error';
    if (!this.#running) return this.#isDue ? 'warming' : 'idle';
    return this.#running.started ? 'ready' : 'warming';
  }

  get error(): Error | undefined {
    return this.#error;
  }

  get report(): ChildReport {
    const { started, startedAt } = this.#running ?? {};
    return {
      state: this.state,
      pid: started?.pid,
      uptimeMs: started && startedAt && performance.now() - startedAt,
      calls: this.#callsBefore + (started?.calls ?? 0),
      lastError: this.#lastError,
    };
  }

  /** What it has listed last, in this life or an earlier one. */
  get lists(): Lists {
    return this.#parts.catalog.get(this.#config).lists;
  }

  /** Tools left out of its list because of hidden characters. */
  get refused(): readonly RefusedTool[] {
    return this.#parts.catalog.get(this.#config).refused;
  }

  /**
   * The running child, or its start; who calls the use off does not call the start off. A child that
   * speaks both eras is started in that of the first who needs it.
   */
  use(cancellation: Cancellation, era: Era = 'handshake'): Child | Promise<Child> {
    if (this.#running?.started) return this.#running.started;
    this.#running ??= this.#run(era);
    return cancellation.orElse(this.#running.child);
  }

  /** Starts the child and lists its tools, once for all who want it. */
  warm(): Promise<void> {
    this.#warming ??= this.#warm().finally(() => {
      this.#warming = undefined;
    });
    return this.#warming;
  }

  /** Keeps what the child has listed; tells others if it is news. */
  remember(kind: ListKind, items: readonly unknown[]): void {
    const child = this.#running?.started;
    const refused = (kind === 'tools' && child?.refusedTools) || [];
    const text = JSON.stringify([items, refused]);
    const known = [this.lists[kind], kind === 'tools' ? this.refused : []];
    // What comes late from one that is to go must not take the place of what its successor says.
    if (this.#isRetired || text === JSON.stringify(known)) return;
    const isSecret = child?.holdsSecret(text) ?? false;
    const { catalog, events, onBug } = this.#parts;
    catalog.rememberList(this.#config, kind, items, { isSecret, refused });
    guard(onBug, events.onListChanged)(this.#config.name, kind);
  }

  /** Resolves when what a running child is being asked for is known. */
  learned(): Promise<void> {
    return this.#keeper.learned();
  }

  /** Has the child tell of changes of these resources, in this life and later ones. */
  async watch(uris: ReadonlySet<string>): Promise<void> {
    const before = this.#watched;
    if (uris.size === before.size && [...uris].every((uri) => before.has(uri))) return;
    this.#watched = uris;
    await this.#running?.started?.watch(uris);
  }

  /** Has the child send log messages from this level on, in this life and later ones. */
  setLogLevel(level: LogLevel | undefined): void {
    this.#logLevel = level;
    const running = this.#running;
    // A child cannot be told that nobody listens, and keeps the level until somebody wants another.
    if (!running?.started || level === undefined || level === running.logLevel) return;
    running.logLevel = level;
    running.started.setLogLevel(level);
  }

  /** Tells the child something, if it runs. */
  notify(method: string, params?: Verbatim): void {
    this.#running?.started?.notify(method, params);
  }

  /** Reads the child's output, or stops reading it while nobody takes it. */
  balance(): void {
    const child = this.#running?.started;
    if (!child) return;
    const { flow } = this.#parts;
    child.onCallsChanged = flow.isHeld ? () => this.balance() : undefined;
    if (flow.isBlocked(child.parties)) child.pause();
    else child.resume();
  }

  /** Ends the child for good, whatever it is doing, except a first listing (#finishListing). */
  async close(reason: Error): Promise<void> {
    this.#isClosed = true;
    this.#keeper.close();
    clearTimeout(this.#idle);
    await this.#finishListing();
    this.#running?.cancellation.cancel(reason);
    const child = await this.#running?.child.catch(() => undefined);
    await child?.stop();
    await this.#starter.stopped;
  }

  /** Ends the child for good, after those who wait for its answers have got them. */
  async retire(reason: Error): Promise<void> {
    this.#isRetired = true;
    this.#keeper.close();
    await this.#running?.started?.settled();
    await this.close(reason);
  }

  /**
   * Gives a required first listing up to `stopMs` to finish. Otherwise, if every session is short, the
   * tools would never become known.
   */
  async #finishListing(): Promise<void> {
    if (!this.#warming || this.#isRetired || this.lists.tools !== undefined) return;
    if (this.#toolDemand !== 'required') return;
    await soon(
      this.#warming.catch(() => {}),
      this.#config.timeouts.stopMs,
    );
  }

  get #toolDemand(): ToolDemand {
    return this.#parts.toolDemand?.(this.#config) ?? 'none';
  }

  #run(era: Era): Running {
    this.#isDue = false;
    const cancellation = new Cancellation();
    const child = this.#starter.start(this.#config, { cancellation, preferredEra: era });
    const running: Running = {
      child,
      cancellation,
      started: undefined,
      startedAt: 0,
      logLevel: undefined,
    };
    child
      .then(
        (started) => this.#live(running, started),
        (error: unknown) => {
          this.#running = undefined;
          this.#fail(error);
        },
      )
      .catch(this.#parts.onBug);
    return running;
  }

  /** One life of the child, from the end of its handshake on. */
  async #live(running: Running, child: Child): Promise<void> {
    const { events } = this.#parts;
    running.started = child;
    running.startedAt = performance.now();
    this.#error = undefined;
    child.refusedTools = this.refused;
    this.balance();
    this.#watchIdleness(child);
    this.setLogLevel(this.#logLevel);
    child.watch(this.#watched).catch(() => {}); // it does not have what somebody wants to watch
    // Hosts see its tools, and the known ones may be out of date.
    if (this.#toolDemand !== 'none' && !this.#warming) this.#keeper.refresh(child, 'tools');
    this.#keeper.refresh(child, ...OTHERS);
    const end = await child.ended;
    this.#callsBefore += child.calls;
    if (this.#running !== running) return; // it was stopped on purpose
    this.#starter.noteEnd(child);
    this.#running = undefined;
    if (this.#isClosed || this.#isRetired) return;
    const error = child.explainEnd(end);
    this.#fail(error);
    events.onLost(this.#config.name, error);
  }

  #fail(error: unknown): void {
    const failure = error instanceof Error ? error : new Error(String(error));
    const isOurs = failure instanceof SwitchboardError && failure.code === 'CANCELLED';
    if (isOurs) return;
    this.#error = failure;
    this.#lastError = failure.message;
  }

  async #warm(): Promise<void> {
    try {
      const child = await this.use(new Cancellation());
      const others = this.#keeper.refreshNow(); // they are known as soon as its tools are announced
      const tools = await listAll(child, 'tools');
      await others;
      this.remember('tools', tools);
      this.#error = undefined;
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  #noteNotification(method: string, params: Verbatim | undefined): void {
    const { events } = this.#parts;
    if (method === 'notifications/tools/list_changed') this.#keeper.noteAnnounced('tools');
    else if (method === 'notifications/prompts/list_changed') this.#keeper.noteAnnounced('prompts');
    else if (method === 'notifications/resources/list_changed') {
      this.#keeper.noteAnnounced('resources', 'templates');
    } else if (method === 'notifications/resources/updated' && params) {
      events.onResourceUpdated(this.#config.name, params);
    }
  }

  #watchIdleness(child: Child): void {
    clearTimeout(this.#idle);
    const { idleMs } = this.#config;
    if (idleMs === 0) return;
    // Somebody waits to be told of a change, which nobody could tell then.
    const isWatched = this.#watched.size > 0;
    const waitMs = isWatched ? idleMs : Math.max(1, idleMs - child.idleMs);
    const look = (): void => {
      if (this.#running?.started !== child) return;
      // No timer fires between this look and the stop, so no call can come between them either.
      const isIdle = child.idleMs + 1 >= idleMs && this.#watched.size === 0;
      if (isIdle && !this.#warming) this.#stopIdle(child);
      else this.#watchIdleness(child);
    };
    this.#idle = setTimeout(guard(this.#parts.onBug, look), waitMs).unref();
  }

  #stopIdle(child: Child): void {
    this.#running = undefined;
    this.#starter.noteIdle(child);
  }
}
