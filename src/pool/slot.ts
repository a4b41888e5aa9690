// One child's place in the pool, through all its lives: started once for everybody who asks, used
// until it ends, stopped when nobody has used it for a while, started again when it is needed.
import { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import type { Child, ListKind } from '../child/child.ts';
import type { ChildConfig } from '../config/config.ts';
import type { Era } from '../mcp/eras.ts';
import type { LogLevel } from '../mcp/logging.ts';
import type { Framing } from '../rpc/framing.ts';
import { METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import type { Catalog, Lists } from './catalog.ts';
import { RestartLimit } from './restart.ts';

export interface StartAttempt {
  readonly framing: Framing;
  readonly nextFraming: Framing | undefined;
  readonly cancellation: Cancellation;
  readonly onStarting: () => void;
  readonly onStopping: (stopped: Promise<void>) => void;
  readonly onNotification: (method: string, params: Verbatim | undefined) => void;
  readonly era: Era | undefined;
  readonly preferredEra: Era;
}

export type StartChild = (config: ChildConfig, attempt: StartAttempt) => Promise<Child>;

/** What a slot tells the pool's owner. */
export interface SlotEvents {
  /** What is known of a list is something else than before. */
  readonly onListChanged: (name: string, kind: ListKind) => void;
  /** A resource that is watched has changed: the child's own words. */
  readonly onResourceUpdated: (name: string, params: Verbatim) => void;
  /** The child was running and has ended by itself. */
  readonly onLost: (name: string, error: Error) => void;
}

export interface SlotParts {
  readonly start: StartChild;
  readonly catalog: Catalog;
  readonly events: SlotEvents;
  readonly isPaused: () => boolean;
  /** The end of another child that this one takes the place of. */
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
}

/** A child that announces changes one after the other is asked for its list once for all of them. */
const SETTLE_MS = 100;
/** One that does so without end is asked less and less often, until it was quiet for a while. */
const LONGEST_SETTLE_MS = 30_000;
const QUIET_MS = 60_000;

export class Slot {
  #config: ChildConfig;
  readonly #parts: SlotParts;
  readonly #limit = new RestartLimit();
  #framing: Framing | undefined;
  #running: Running | undefined;
  /** The end of the process before, which the next one waits for: two would get in each other's way. */
  #stopped: Promise<void>;
  #warming: Promise<void> | undefined;
  #refresh: NodeJS.Timeout | undefined;
  #refreshedAt = -Infinity;
  #settleMs = SETTLE_MS;
  /** The lists to ask for again. */
  readonly #stale = new Set<ListKind>();
  #listing: Promise<void> = Promise.resolve();
  #watched: ReadonlySet<string> = new Set();
  #logLevel: LogLevel | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** It is to be started without anybody asking for it, and that has not happened yet. */
  #isDue: boolean;
  /** The configuration has it no more: it ends when nobody waits for it. */
  #isRetired = false;
  #isClosed = false;
  /** It has ended at its start without having been asked what it is, too. */
  #endsAnyway = false;
  /** A server that wants to be left alone is not even asked who it is until then. */
  #notBefore = -Infinity;
  #callsBefore = 0;
  /** Why it cannot be used at the moment. */
  #error: Error | undefined;
  #lastError: string | undefined;

  constructor(config: ChildConfig, parts: SlotParts) {
    this.#config = config;
    this.#parts = parts;
    this.#isDue = config.start === 'eager';
    this.#stopped = parts.after ?? Promise.resolve();
  }

  get config(): ChildConfig {
    return this.#config;
  }

  /** New settings for a child that may go on running. */
  set config(config: ChildConfig) {
    this.#config = config;
    const child = this.#running?.started;
    if (!child) return;
    this.#watchIdleness(child);
    // What is known may be kept under another name now.
    this.#refreshSoon('tools');
    this.#refreshOthers(child);
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
    const text = JSON.stringify(items);
    // What comes late from one that is to go must not take the place of what its successor says.
    if (this.#isRetired || text === JSON.stringify(this.lists[kind])) return;
    const isSecret = this.#running?.started?.holdsSecret(text) ?? false;
    this.#parts.catalog.rememberList(this.#config, kind, items, isSecret);
    this.#parts.events.onListChanged(this.#config.name, kind);
  }

  /** Resolves when what a running child is being asked for is known. */
  async learned(): Promise<void> {
    if (this.#stale.size > 0) await this.#refreshLists();
    await this.#listing;
  }

  /** Has the child tell of changes of these resources, in this life and later ones. */
  async watch(uris: ReadonlySet<string>): Promise<void> {
    this.#watched = uris;
    await this.#running?.started?.watch(uris);
  }

  /** Has the child send log messages from this level on, in this life and later ones. */
  setLogLevel(level: LogLevel | undefined): void {
    this.#logLevel = level;
    this.#running?.started?.setLogLevel(level);
  }

  /** Tells the child something, if it runs. */
  notify(method: string, params?: Verbatim): void {
    this.#running?.started?.notify(method, params);
  }

  pause(): void {
    this.#running?.started?.pause();
  }

  resume(): void {
    this.#running?.started?.resume();
  }

  /** Ends the child for good, whatever it is doing. */
  async close(reason: Error): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#refresh);
    clearTimeout(this.#idle);
    this.#running?.cancellation.cancel(reason);
    const child = await this.#running?.child.catch(() => undefined);
    await child?.stop();
    await this.#stopped;
  }

  /** Ends the child for good, after those who wait for its answers have got them. */
  async retire(reason: Error): Promise<void> {
    this.#isRetired = true;
    clearTimeout(this.#refresh);
    await this.#running?.started?.settled();
    await this.close(reason);
  }

  #run(era: Era): Running {
    this.#isDue = false;
    const cancellation = new Cancellation();
    const child = this.#start(cancellation, era);
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

  /** One life of the child, from the end of its handshake on. */
  async #live(running: Running, child: Child): Promise<void> {
    const { events, isPaused } = this.#parts;
    running.started = child;
    running.startedAt = performance.now();
    this.#error = undefined;
    if (isPaused()) child.pause();
    this.#watchIdleness(child);
    if (this.#logLevel) child.setLogLevel(this.#logLevel);
    child.watch(this.#watched).catch(() => {}); // it does not have what somebody wants to watch
    // What it was known to have may be out of date, and somebody is shown it.
    if (!this.#warming && showsTools(this.#config)) this.#refreshSoon('tools');
    this.#refreshOthers(child);
    const end = await child.ended;
    this.#callsBefore += child.calls;
    if (this.#running !== running) return; // it was stopped on purpose
    this.#limit.noteEnd(child.hasAnswered ? 'worked' : 'failed');
    this.#stopped = child.stop();
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
      const others = this.#refreshLists(); // they are known as soon as its tools are announced
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
    if (method === 'notifications/tools/list_changed') this.#refreshSoon('tools');
    else if (method === 'notifications/prompts/list_changed') this.#refreshSoon('prompts');
    else if (method === 'notifications/resources/list_changed') {
      this.#refreshSoon('resources', 'templates');
    } else if (method === 'notifications/resources/updated' && params) {
      events.onResourceUpdated(this.#config.name, params);
    }
  }

  /** Prompts and resources, where the child has said that it has some. */
  #refreshOthers({ greeting: { capabilities } }: Child): void {
    if (capabilities['prompts'] !== undefined) this.#refreshSoon('prompts');
    if (capabilities['resources'] !== undefined) this.#refreshSoon('resources', 'templates');
  }

  /** Asks for lists again, once for all reasons that come up meanwhile. */
  #refreshSoon(...kinds: ListKind[]): void {
    for (const kind of kinds) this.#stale.add(kind);
    if (this.#isRetired) return;
    this.#refresh ??= setTimeout(() => {
      this.#refresh = undefined;
      void this.#refreshLists();
    }, this.#nextSettleMs()).unref();
  }

  #nextSettleMs(): number {
    const now = performance.now();
    const isQuiet = now - this.#refreshedAt > QUIET_MS;
    this.#refreshedAt = now;
    this.#settleMs = isQuiet ? SETTLE_MS : Math.min(2 * this.#settleMs, LONGEST_SETTLE_MS);
    return this.#settleMs;
  }

  /** One round after the other: a list that comes later is never overwritten by an earlier one. */
  #refreshLists(): Promise<void> {
    this.#listing = this.#listing.then(async () => {
      const child = this.#running?.started;
      const kinds = [...this.#stale];
      this.#stale.clear();
      if (!child || this.#isClosed) return;
      await Promise.all(kinds.map((kind) => this.#refreshList(child, kind)));
    });
    return this.#listing;
  }

  async #refreshList(child: Child, kind: ListKind): Promise<void> {
    // A child that does not tell what it has is as good as before: what is known stays.
    const items = await listAll(child, kind).catch(() => undefined);
    if (items && !this.#isClosed) this.remember(kind, items);
  }

  #watchIdleness(child: Child): void {
    clearTimeout(this.#idle);
    const { idleMs } = this.#config;
    if (idleMs === 0) return;
    const waitMs = Math.max(1, idleMs - child.idleMs);
    this.#idle = setTimeout(() => {
      if (this.#running?.started !== child) return;
      // No timer fires between this look and the stop, so no call can come between them either.
      if (child.idleMs + 1 >= idleMs && !this.#warming) this.#stopIdle(child);
      else this.#watchIdleness(child);
    }, waitMs).unref();
  }

  #stopIdle(child: Child): void {
    this.#running = undefined;
    this.#limit.forget();
    this.#stopped = child.stop();
  }

  /** The configured one, or what worked last time. */
  #firstFraming(): Framing {
    const { framing } = this.#config;
    if (framing !== 'auto') return framing;
    return this.#parts.catalog.get(this.#config).framing ?? 'newline';
  }

  async #start(cancellation: Cancellation, preferredEra: Era): Promise<Child> {
    try {
      const child = await this.#startOnce(cancellation, preferredEra, undefined);
      this.#endsAnyway = false;
      return child;
    } catch (error) {
      const died = error instanceof SwitchboardError && error.data['diedOfProbe'] === true;
      // One that ends whatever it is asked does not end because of the question.
      if (!died || this.#endsAnyway || cancellation.reason) throw error;
      this.#endsAnyway = true;
      const child = await this.#startOnce(cancellation, preferredEra, 'handshake');
      this.#endsAnyway = false;
      return child;
    }
  }

  async #startOnce(
    cancellation: Cancellation,
    preferredEra: Era,
    era: Era | undefined,
  ): Promise<Child> {
    const config = this.#config;
    const limit = this.#limit;
    const waitMs = limit.parkedMs(performance.now());
    if (waitMs > 0) throw parked(config, waitMs);
    if (performance.now() < this.#notBefore) throw this.#error ?? parked(config, 1);
    await cancellation.orElse(this.#stopped);
    if (limit.waitMs > 0) await cancellation.orElse(sleep(limit.waitMs));
    const framing = (this.#framing ??= this.#firstFraming());
    const other: Framing = framing === 'newline' ? 'content-length' : 'newline';
    const nextFraming = config.framing === 'auto' ? other : undefined;
    let wasStarted = false;
    try {
      const { catalog } = this.#parts;
      const child = await this.#parts.start(config, {
        framing,
        nextFraming,
        cancellation,
        onStarting: () => {
          wasStarted = true;
          limit.noteStart(performance.now());
        },
        onStopping: (stopped) => {
          this.#stopped = stopped;
        },
        onNotification: (method, params) => this.#noteNotification(method, params),
        era: era ?? catalog.eraOf(config),
        preferredEra,
      });
      if (nextFraming === 'newline') catalog.rememberFraming(config, framing);
      catalog.rememberEra(config, child.greeting.era);
      return child;
    } catch (error) {
      const isProbe = error instanceof SwitchboardError && error.data['diedOfProbe'] === true;
      // It is started again at once, and only that start counts.
      if (wasStarted && isProbe && !this.#endsAnyway) limit.forgetStart();
      else if (wasStarted) limit.noteEnd('failed');
      const silent = error instanceof SwitchboardError && error.data['silent'] === true;
      if (silent && nextFraming) this.#framing = nextFraming;
      this.#notBefore = performance.now() + retryAfterMs(error);
      throw error;
    }
  }
}

function showsTools({ show }: ChildConfig): boolean {
  return show === 'flip' || show === 'direct';
}

/** All of a kind that a child has; none where it says that it does not know the request. */
async function listAll(child: Child, kind: ListKind): Promise<unknown[]> {
  try {
    const options = { isUse: false };
    return kind === 'tools' ? await child.listTools(options) : await child.list(kind, options);
  } catch (error) {
    if (error instanceof RpcError && error.code === METHOD_NOT_FOUND) return [];
    throw error;
  }
}

/** How long a server has said that it wants to be left alone. */
function retryAfterMs(error: unknown): number {
  const seconds = error instanceof SwitchboardError ? error.data['retryAfterSeconds'] : undefined;
  return typeof seconds === 'number' ? seconds * 1_000 : 0;
}

function parked({ name }: ChildConfig, waitMs: number): SwitchboardError {
  const until = new Date(Date.now() + waitMs);
  const time = until.toTimeString().slice(0, 8);
  return new SwitchboardError(
    'CHILD_PARKED',
    `Server "${name}" was started five times within ten seconds and is parked until ${time}.`,
    {
      hint: `Find out why it ends: switchboard doctor ${name}`,
      data: { child: name, until: until.toISOString() },
    },
  );
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
