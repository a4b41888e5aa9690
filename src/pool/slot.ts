// One child's place in the pool, through all its lives: started once for everybody who asks, used
// until it ends, stopped when nobody has used it for a while, started again when it is needed.
import { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import type { Child } from '../child/child.ts';
import type { ChildConfig } from '../config/config.ts';
import type { Tool } from '../mcp/tools.ts';
import type { Framing } from '../rpc/framing.ts';
import { METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import type { Catalog } from './catalog.ts';
import { RestartLimit } from './restart.ts';

export interface StartAttempt {
  readonly framing: Framing;
  readonly nextFraming: Framing | undefined;
  readonly cancellation: Cancellation;
  readonly onStarting: () => void;
  readonly onStopping: (stopped: Promise<void>) => void;
  /** The child says that its tools are others now. */
  readonly onToolsChanged: () => void;
}

export type StartChild = (config: ChildConfig, attempt: StartAttempt) => Promise<Child>;

/** What a slot tells the pool's owner. */
export interface SlotEvents {
  /** The tools that are known are others than before. */
  readonly onToolsChanged: (name: string) => void;
  /** The child was running and has ended by itself. */
  readonly onLost: (name: string) => void;
}

export interface SlotParts {
  readonly start: StartChild;
  readonly catalog: Catalog;
  readonly events: SlotEvents;
  readonly isPaused: () => boolean;
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

export class Slot {
  #config: ChildConfig;
  readonly #parts: SlotParts;
  readonly #limit = new RestartLimit();
  #framing: Framing | undefined;
  #running: Running | undefined;
  /** The end of the process before, which the next one waits for: two would get in each other's way. */
  #stopped: Promise<void> = Promise.resolve();
  #warming: Promise<void> | undefined;
  #refresh: NodeJS.Timeout | undefined;
  #isListing = false;
  #idle: NodeJS.Timeout | undefined;
  /** It is to be started without anybody asking for it, and that has not happened yet. */
  #isDue: boolean;
  #isClosed = false;
  #callsBefore = 0;
  /** Why it cannot be used at the moment. */
  #error: Error | undefined;
  #lastError: string | undefined;

  constructor(config: ChildConfig, parts: SlotParts) {
    this.#config = config;
    this.#parts = parts;
    this.#isDue = config.start === 'eager';
  }

  get config(): ChildConfig {
    return this.#config;
  }

  /** New settings for a child that may go on running. */
  set config(config: ChildConfig) {
    this.#config = config;
    if (this.#running?.started) this.#watchIdleness(this.#running.started);
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

  /** The tools as they were last listed, in this life or an earlier one. */
  get tools(): readonly Tool[] | undefined {
    return this.#parts.catalog.get(this.#config).tools;
  }

  /** The running child, or its start; who calls the use off does not call the start off. */
  use(cancellation: Cancellation): Child | Promise<Child> {
    if (this.#running?.started) return this.#running.started;
    this.#running ??= this.#run();
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
  remember(tools: readonly Tool[]): void {
    if (JSON.stringify(tools) === JSON.stringify(this.tools)) return;
    this.#parts.catalog.rememberTools(this.#config, tools);
    this.#parts.events.onToolsChanged(this.#config.name);
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
    await this.#running?.started?.settled();
    await this.close(reason);
  }

  #run(): Running {
    this.#isDue = false;
    const cancellation = new Cancellation();
    const child = this.#start(cancellation);
    const running: Running = { child, cancellation, started: undefined, startedAt: 0 };
    child.then(
      (started) => this.#live(running, started),
      (error: unknown) => {
        this.#running = undefined;
        this.#fail(error);
      },
    );
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
    // What it was known to have may be out of date, and somebody is shown it.
    if (!this.#warming && showsTools(this.#config)) this.#refreshSoon();
    const end = await child.ended;
    this.#callsBefore += child.calls;
    if (this.#running !== running) return; // it was stopped on purpose
    this.#limit.noteEnd(child.hasAnswered ? 'worked' : 'failed');
    this.#stopped = child.stop();
    this.#running = undefined;
    if (this.#isClosed) return;
    this.#fail(child.explainEnd(end));
    events.onLost(this.#config.name);
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
      this.remember(await listTools(child));
      this.#error = undefined;
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  /** Asks for the list of tools again, once for all reasons that come up meanwhile. */
  #refreshSoon(): void {
    this.#refresh ??= setTimeout(() => {
      this.#refresh = undefined;
      void this.#refreshTools();
    }, SETTLE_MS).unref();
  }

  async #refreshTools(): Promise<void> {
    const child = this.#running?.started;
    if (!child || this.#isClosed) return;
    if (this.#isListing) return this.#refreshSoon();
    this.#isListing = true;
    // A child that does not tell its tools is as good as before: what is known stays.
    const tools = await listTools(child).catch(() => undefined);
    this.#isListing = false;
    if (tools && !this.#isClosed) this.remember(tools);
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

  async #start(cancellation: Cancellation): Promise<Child> {
    const config = this.#config;
    const limit = this.#limit;
    const waitMs = limit.parkedMs(performance.now());
    if (waitMs > 0) throw parked(config, waitMs);
    await cancellation.orElse(this.#stopped);
    if (limit.waitMs > 0) await cancellation.orElse(sleep(limit.waitMs));
    const framing = (this.#framing ??= this.#firstFraming());
    const other: Framing = framing === 'newline' ? 'content-length' : 'newline';
    const nextFraming = config.framing === 'auto' ? other : undefined;
    let wasStarted = false;
    try {
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
        onToolsChanged: () => this.#refreshSoon(),
      });
      if (nextFraming === 'newline') this.#parts.catalog.rememberFraming(config, framing);
      return child;
    } catch (error) {
      if (wasStarted) limit.noteEnd('failed');
      const silent = error instanceof SwitchboardError && error.data['silent'] === true;
      if (silent && nextFraming) this.#framing = nextFraming;
      throw error;
    }
  }
}

function showsTools({ show }: ChildConfig): boolean {
  return show === 'flip' || show === 'direct';
}

/** All tools of a child; none where it says that it does not know the request. */
async function listTools(child: Child): Promise<Tool[]> {
  try {
    return await child.listTools();
  } catch (error) {
    if (error instanceof RpcError && error.code === METHOD_NOT_FOUND) return [];
    throw error;
  }
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
