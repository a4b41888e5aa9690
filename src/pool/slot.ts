// One server's place in the pool, across all its processes: started on first use, once for all callers, stopped
// when idle, and started again on the next use.
import { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import { settleWithin } from '../base/time.ts';
import type { Child } from '../child/child.ts';
import type { ListKind } from '../child/list-pages.ts';
import { parseCounts } from '../child/screen.ts';
import type { ChildConfig } from '../config/config.ts';
import type { RefusedTool } from '../mcp/clean-lists.ts';
import type { Era } from '../mcp/eras.ts';
import type { LogLevel } from '../mcp/logging.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import type { Catalog, CatalogEntry, Lists } from './catalog.ts';
import type { Flow } from './flow.ts';
import { IdleTimer } from './idle-timer.ts';
import type { Move } from './lease.ts';
import { ListKeeper, listAll } from './list-keeper.ts';
import { Wishes } from './wishes.ts';

export interface SlotEvents {
  /** A list differs from the known one. */
  readonly onListChanged: (name: string, kind: ListKind) => void;
  /** A watched resource has changed; `params` as the child sent them. */
  readonly onResourceUpdated: (name: string, params: Verbatim) => void;
  /** The running child has exited on its own. */
  readonly onLost: (name: string, error: Error) => void;
  /** The session has to use another process. */
  readonly onMoved?: (name: string, move: Move) => void;
}

/** What a start needs to know, and whom it reports to. */
export interface Wish {
  /** Leaves the start; others may still wait for it. */
  readonly cancellation: Cancellation;
  /** The era to use with a child that speaks both. */
  readonly preferredEra: Era;
  readonly onNotification: (method: string, params: Verbatim | undefined) => void;
  /** Called if the start has failed or was left, with the end of whatever it started. */
  readonly onStopping: (stopped: Promise<void>) => void;
  /** Another session holds up the server's output, or no longer does. */
  readonly onHeld?: (() => void) | undefined;
  /** From now on, the session has to use another process. */
  readonly onMoved?: ((move: Move) => void) | undefined;
}

/** Starts a server, or joins its process. */
export type StartChild = (config: ChildConfig, wish: Wish) => Promise<Child>;

/**
 * How much hosts depend on a server's tool list: not at all, they see the tools once known, or the server can't be
 * listed without it.
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

/** `ready`: it runs. `idle`: it hasn't been used, or not for a while. */
export type ChildState = 'idle' | 'warming' | 'ready' | 'error';

export interface ChildReport {
  readonly state: ChildState;
  readonly pid: number | undefined;
  readonly uptimeMs: number | undefined;
  readonly calls: number;
  readonly lastError: string | undefined;
  /** How many sessions use its process. */
  readonly sessions?: number | undefined;
  /** Variables whose values keep other sessions from sharing it. */
  readonly apart?: readonly string[] | undefined;
}

interface Running {
  readonly child: Promise<Child>;
  readonly cancellation: Cancellation;
  /** The child once started, so that later uses needn't await. */
  started: Child | undefined;
  startedAt: number;
}

/** Lists shown for every server, since they cost a model nothing. */
const OTHERS = ['prompts', 'resources', 'templates'] as const;

export class Slot {
  #config: ChildConfig;
  readonly #parts: SlotParts;
  readonly #keeper = new ListKeeper({
    running: () => this.#running?.started,
    remember: (kind, items) => this.remember(kind, items),
    onBug: (error) => this.#parts.onBug(error),
  });
  readonly #wishes = new Wishes();
  readonly #idle = new IdleTimer({
    // A stopped child couldn't report changes of the resources it watches.
    isNeeded: () => this.#wishes.isWatching || this.#warming !== undefined,
    onIdle: (child) => this.#stopIdle(child),
    onBug: (error) => this.#parts.onBug(error),
  });
  #running: Running | undefined;
  /** The end of what ran before. The next start waits for it: two would get in each other's way. */
  #stopped: Promise<void>;
  #warming: Promise<void> | undefined;
  /** An eager child that hasn't been started yet. */
  #isDue: boolean;
  /** No longer in the configuration: it stops once no caller is waiting. */
  #isRetired = false;
  #isClosed = false;
  #callsBefore = 0;
  /** Why it can't be used at the moment. */
  #error: Error | undefined;
  #lastError: string | undefined;
  /** Of the child that ran last. */
  #secrets: readonly string[] = [];

  constructor(config: ChildConfig, parts: SlotParts) {
    this.#config = config;
    this.#parts = parts;
    this.#isDue = config.start === 'eager';
    this.#stopped = parts.after ?? Promise.resolve();
  }

  get config(): ChildConfig {
    return this.#config;
  }

  /** The child's secrets, even if it has just exited; empty if it never ran. */
  get secrets(): readonly string[] {
    return this.#running?.started?.secrets ?? this.#secrets;
  }

  /** New settings for a child that keeps running. */
  set config(config: ChildConfig) {
    this.#config = config;
    const child = this.#running?.started;
    if (!child) return;
    child.reconfigure(config);
    this.#idle.watch(child, config.idleMs);
    // The catalog may store its lists under another name now.
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
      ...(started && started.sessions > 1 && { sessions: started.sessions }),
      ...(started && started.apart.length > 0 && { apart: started.apart }),
    };
  }

  /** Its lists, from this process or an earlier one. */
  get lists(): Lists {
    return this.#parts.catalog.get(this.#config).lists;
  }

  /** Tools left out of its list because of hidden characters, or held until the user accepts them. */
  get refused(): readonly RefusedTool[] {
    return this.#parts.catalog.get(this.#config).refused;
  }

  /** The hints in force of tools that claim more than the user has accepted. */
  get heldRights(): CatalogEntry['rights'] {
    return this.#parts.catalog.get(this.#config).rights;
  }

  /** Changes that the user hasn't accepted yet. */
  get changes(): CatalogEntry['changes'] {
    return this.#parts.catalog.get(this.#config).changes;
  }

  /**
   * The running child, or its start. Cancelling the use doesn't cancel the start. A child that speaks both
   * eras is started in the era of its first caller.
   */
  use(cancellation: Cancellation, era: Era = 'handshake'): Child | Promise<Child> {
    if (this.#running?.started) return this.#running.started;
    this.#running ??= this.#run(era);
    return cancellation.race(this.#running.child);
  }

  /** Starts the child and lists its tools, once for all callers. */
  warm(): Promise<void> {
    this.#warming ??= this.#warm().finally(() => {
      this.#warming = undefined;
    });
    return this.#warming;
  }

  /** Keeps a list and reports it if it has changed. */
  remember(kind: ListKind, items: readonly unknown[]): void {
    const child = this.#running?.started;
    const isTools = kind === 'tools';
    const refused = (isTools && child?.refusedTools) || [];
    const rights = isTools && child ? Object.fromEntries(child.verdict.rights) : {};
    const isChecked = isTools || kind === 'prompts';
    const changes = child && isChecked ? parseCounts(child.verdict.counts) : this.changes;
    const text = JSON.stringify([items, refused, rights, changes]);
    const known = [
      this.lists[kind],
      isTools ? this.refused : [],
      isTools ? this.heldRights : {},
      this.changes,
    ];
    // A late list from a retired child must not replace its successor's.
    if (this.#isRetired || text === JSON.stringify(known)) return;
    const isSecret = child?.holdsSecret(text) ?? false;
    const { catalog, events, onBug } = this.#parts;
    catalog.rememberList(this.#config, kind, items, { isSecret, refused, rights, changes });
    guard(onBug, events.onListChanged)(this.#config.name, kind);
  }

  /** Resolves when lists that are being fetched have arrived. */
  learned(): Promise<void> {
    return this.#keeper.learned();
  }

  /** Makes sure that the running process's lists are known, and as it last announced them. */
  async verify(): Promise<void> {
    const child = this.#running?.started;
    if (child && !child.hasListed) this.remember('tools', await listAll(child, 'tools'));
    await this.learned();
  }

  /** The user has accepted changes: lists everything again, now or at the next start. */
  recheck(): void {
    const child = this.#running?.started;
    if (child) return this.#keeper.refresh(child, 'tools', 'prompts');
    if (!this.changes) return;
    const { catalog, events, onBug } = this.#parts;
    catalog.forgetLists(this.#config);
    const tell = guard(onBug, events.onListChanged);
    for (const kind of ['tools', 'prompts'] as const) tell(this.#config.name, kind);
  }

  /** Subscribes to these resources only, now and after each restart. */
  watch(uris: ReadonlySet<string>): Promise<void> {
    return this.#wishes.watch(uris, this.#running?.started);
  }

  /** Sets the log level, now and after each restart. */
  setLogLevel(level: LogLevel | undefined): void {
    this.#wishes.setLogLevel(level, this.#running?.started);
  }

  /** Notifies the child if it runs. */
  notify(method: string, params?: Verbatim): void {
    this.#running?.started?.notify(method, params);
  }

  /** Reads the server's output, or stops reading while no host takes it. */
  balance(): void {
    const child = this.#running?.started;
    if (!child) return;
    const { flow } = this.#parts;
    const isWatched = flow.isHeld || child.isHeld;
    child.onCallsChanged = isWatched ? () => this.balance() : undefined;
    if (flow.isBlocked(child.parties)) child.pause();
    else child.resume();
  }

  /** Stops the server for good, no matter what it is doing, except a first listing (#finishListing). */
  async close(reason: Error): Promise<void> {
    this.#isClosed = true;
    this.#keeper.close();
    this.#idle.stop();
    await this.#finishListing();
    this.#running?.cancellation.cancel(reason);
    const child = await this.#running?.child.catch(() => undefined);
    await child?.stop();
    await this.#stopped;
  }

  /** Stops the child for good, after its pending answers have arrived. */
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
    await settleWithin(
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
    const move = (what: Move): void => this.#move(running, what);
    const child = this.#start(cancellation, era, move);
    const running: Running = { child, cancellation, started: undefined, startedAt: 0 };
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

  async #start(
    cancellation: Cancellation,
    preferredEra: Era,
    onMoved: (move: Move) => void,
  ): Promise<Child> {
    await cancellation.race(this.#stopped);
    return this.#parts.start(this.#config, {
      cancellation,
      preferredEra,
      onNotification: (method, params) => this.#noteNotification(method, params),
      onStopping: (stopped) => {
        this.#stopped = Promise.all([this.#stopped, stopped]).then(() => {});
      },
      onHeld: () => this.balance(),
      onMoved,
    });
  }

  /** One process of the child, from the end of its handshake on. */
  async #live(running: Running, child: Child): Promise<void> {
    const { events } = this.#parts;
    child.reconfigure(this.#config); // a reload may have come during the start
    running.started = child;
    running.startedAt = performance.now();
    this.#error = undefined;
    child.refusedTools = this.refused;
    this.balance();
    this.#idle.watch(child, this.#config.idleMs);
    this.#wishes.apply(child);
    // Hosts see its tools, and the known ones may be out of date.
    if (this.#toolDemand !== 'none' && !this.#warming) this.#keeper.refresh(child, 'tools');
    this.#keeper.refresh(child, ...OTHERS);
    const end = await child.ended;
    this.#secrets = child.secrets;
    this.#callsBefore += child.calls;
    if (this.#running !== running) return; // stopped on purpose
    this.#stopped = child.stop();
    this.#running = undefined;
    this.#idle.stop();
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
      const others = this.#keeper.refreshNow(); // so that they are known when the tools are announced
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

  #stopIdle(child: Child): void {
    this.#running = undefined;
    this.#stopped = child.stop('idle');
  }

  /** Lets the calls in flight finish. Later ones get another process. */
  #move(running: Running, move: Move): void {
    const child = running.started;
    if (this.#running !== running) return;
    if (!child) {
      // It has just started.
      running.child.then(() => this.#move(running, move)).catch(() => {});
      return;
    }
    this.#running = undefined;
    this.#idle.stop();
    child.onCallsChanged = undefined;
    child.resume();
    this.#stopped = child.settled().then(() => child.stop('moved'));
    this.#parts.events.onMoved?.(this.#config.name, move);
    // Nobody would call it to learn about changes. If the user has stopped it, it stays stopped until its next use.
    const isWanted = this.#wishes.isWatching || this.#config.start === 'eager';
    const isNeeded = move.why === 'restarted' || (move.why !== 'stopped' && isWanted);
    if (isNeeded && !this.#isClosed && !this.#isRetired) this.#running = this.#run('handshake');
  }
}
