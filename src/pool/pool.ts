// Which children exist and which of them run. A child is started on first use, once for everybody
// who asks meanwhile, and is used until it ends; the next use starts it anew. All are stopped
// together.
import { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import { nearest } from '../base/text.ts';
import type { Child } from '../child/child.ts';
import type { ChildConfig } from '../config/config.ts';
import type { Framing } from '../rpc/framing.ts';
import { RestartLimit } from './restart.ts';

export interface StartAttempt {
  readonly framing: Framing;
  readonly nextFraming: Framing | undefined;
  readonly cancellation: Cancellation;
  readonly onStarting: () => void;
  readonly onStopping: (stopped: Promise<void>) => void;
}

export type StartChild = (config: ChildConfig, attempt: StartAttempt) => Promise<Child>;

interface Slot {
  readonly config: ChildConfig;
  readonly limit: RestartLimit;
  framing: Framing;
  running: Running | undefined;
  /** The end of the process before, which the next one waits for: two would get in each other's way. */
  stopped: Promise<void>;
}

interface Running {
  readonly child: Promise<Child>;
  readonly cancellation: Cancellation;
  /** The child, once it has started: the short way for every use after the first. */
  started: Child | undefined;
}

export class Pool implements AsyncDisposable {
  readonly #slots = new Map<string, Slot>();
  readonly #start: StartChild;
  #closed = false;
  #isPaused = false;

  constructor(children: ReadonlyMap<string, ChildConfig>, start: StartChild) {
    this.#start = start;
    for (const [name, config] of children) {
      const framing = config.framing === 'content-length' ? 'content-length' : 'newline';
      const limit = new RestartLimit();
      const stopped = Promise.resolve();
      this.#slots.set(name, { config, limit, framing, running: undefined, stopped });
    }
  }

  /** The running child, or its start; who calls the use off does not call the start off. */
  use(name: string, cancellation: Cancellation): Child | Promise<Child> {
    const slot = this.#slots.get(name);
    if (!slot) throw unknownChild(name, [...this.#slots.keys()]);
    if (slot.running?.started) return slot.running.started;
    slot.running ??= this.#run(slot);
    return cancellation.orElse(slot.running.child);
  }

  /** Has all children wait with their output, those that start meanwhile as well. */
  pause(): void {
    this.#isPaused = true;
    for (const { running } of this.#slots.values()) running?.started?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const { running } of this.#slots.values()) running?.started?.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const stops = [...this.#slots.values()].map(async (slot) => {
      slot.running?.cancellation.cancel(shuttingDown());
      const child = await slot.running?.child.catch(() => undefined);
      await child?.stop();
      await slot.stopped;
    });
    await Promise.all(stops);
  }

  #run(slot: Slot): Running {
    const cancellation = new Cancellation();
    const child = this.#startSlot(slot, cancellation);
    const running: Running = { child, cancellation, started: undefined };
    child.then(
      async (started) => {
        running.started = started;
        if (this.#isPaused) started.pause();
        await started.ended;
        slot.limit.noteEnd(started.hasAnswered ? 'worked' : 'failed');
        slot.stopped = started.stop();
        slot.running = undefined;
      },
      () => {
        slot.running = undefined;
      },
    );
    return running;
  }

  async #startSlot(slot: Slot, cancellation: Cancellation): Promise<Child> {
    if (this.#closed) throw shuttingDown();
    const { config, limit } = slot;
    const waitMs = limit.parkedMs(performance.now());
    if (waitMs > 0) throw parked(config, waitMs);
    await cancellation.orElse(slot.stopped);
    if (limit.waitMs > 0) await cancellation.orElse(sleep(limit.waitMs));
    const other: Framing = slot.framing === 'newline' ? 'content-length' : 'newline';
    const nextFraming = config.framing === 'auto' ? other : undefined;
    let wasStarted = false;
    try {
      return await this.#start(config, {
        framing: slot.framing,
        nextFraming,
        cancellation,
        onStarting: () => {
          wasStarted = true;
          limit.noteStart(performance.now());
        },
        onStopping: (stopped) => {
          slot.stopped = stopped;
        },
      });
    } catch (error) {
      if (wasStarted) limit.noteEnd('failed');
      const silent = error instanceof SwitchboardError && error.data['silent'] === true;
      if (silent && nextFraming) slot.framing = nextFraming;
      throw error;
    }
  }
}

/** The error for a name that no child has. */
export function unknownChild(name: string, names: readonly string[]): SwitchboardError {
  const near = nearest(name, names);
  const known = names.slice(0, 20).join(', ');
  const none = 'None is configured: add one under "mcpServers" in switchboard.config.json.';
  return new SwitchboardError('CHILD_UNKNOWN', `No server is named "${name}".`, {
    hint:
      near.length > 0
        ? `Did you mean ${near.join(' or ')}?`
        : known
          ? `There are: ${known}.`
          : none,
  });
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

function shuttingDown(): SwitchboardError {
  return new SwitchboardError('CANCELLED', 'Switchboard is shutting down.');
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
