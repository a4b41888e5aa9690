// Starting one child, time after time: not too often, not before the process before is gone, in the
// framing and the era that were found to work.
import type { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import { sleep } from '../base/time.ts';
import type { Child } from '../child/child.ts';
import type { ChildConfig } from '../config/config.ts';
import type { Era } from '../mcp/eras.ts';
import type { Framing } from '../rpc/framing.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import type { Catalog } from './catalog.ts';
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

export interface StarterParts {
  readonly start: StartChild;
  readonly catalog: Catalog;
  readonly onNotification: StartAttempt['onNotification'];
  /** The end of another child that this one takes the place of. */
  readonly after: Promise<void> | undefined;
}

/** What is wanted of a start. */
export interface Wish {
  readonly cancellation: Cancellation;
  /** What a child that speaks both eras is to speak. */
  readonly preferredEra: Era;
}

export class Starter {
  readonly #parts: StarterParts;
  readonly #limit = new RestartLimit();
  #framing: Framing | undefined;
  /** It has ended at its start without having been asked what it is, too. */
  #endsAnyway = false;
  /** Until then a server wants to be left alone, for this reason. */
  #refused = { until: -Infinity, error: new Error('It was not refused.') };
  /** The end of the process before, which the next one waits for: two would get in each other's way. */
  stopped: Promise<void>;

  constructor(parts: StarterParts) {
    this.#parts = parts;
    this.stopped = parts.after ?? Promise.resolve();
  }

  async start(config: ChildConfig, wish: Wish): Promise<Child> {
    try {
      return await this.#startOnce(config, wish, undefined);
    } catch (error) {
      // One that ends whatever it is asked does not end because of the question.
      if (!hasFlag(error, 'diedOfProbe') || this.#endsAnyway || wish.cancellation.reason)
        throw error;
      this.#endsAnyway = true;
      return this.#startOnce(config, wish, 'handshake');
    }
  }

  /** A life is over: the child has done something in it, or not. */
  noteEnd(child: Child): void {
    this.#limit.noteEnd(child.hasAnswered ? 'worked' : 'failed');
    this.stopped = child.stop();
  }

  /** The child was stopped because nobody needed it: its next start says nothing against it. */
  noteIdle(child: Child): void {
    this.#limit.forget();
    this.stopped = child.stop();
  }

  async #startOnce(config: ChildConfig, wish: Wish, era: Era | undefined): Promise<Child> {
    const { catalog, start, onNotification } = this.#parts;
    await this.#wait(config, wish.cancellation);
    const framing = (this.#framing ??= firstFraming(config, catalog));
    const other: Framing = framing === 'newline' ? 'content-length' : 'newline';
    const nextFraming = config.framing === 'auto' ? other : undefined;
    let wasStarted = false;
    try {
      const child = await start(config, {
        ...wish,
        framing,
        nextFraming,
        onStarting: () => {
          wasStarted = true;
          this.#limit.noteStart(performance.now());
        },
        onStopping: (stopped) => {
          this.stopped = stopped;
        },
        onNotification,
        era: era ?? catalog.eraOf(config),
      });
      this.#endsAnyway = false;
      if (nextFraming === 'newline') catalog.rememberFraming(config, framing);
      catalog.rememberEra(config, child.greeting.era);
      return child;
    } catch (error) {
      if (wasStarted) this.#noteFailedStart(error);
      if (hasFlag(error, 'silent') && nextFraming) this.#framing = nextFraming;
      this.#noteRefusal(error);
      throw error;
    }
  }

  /** Waits as long as a next start has to; throws where it may not be made at all. */
  async #wait(config: ChildConfig, cancellation: Cancellation): Promise<void> {
    const now = performance.now();
    const parkedMs = this.#limit.parkedMs(now);
    if (parkedMs > 0) throw parked(config, parkedMs);
    if (now < this.#refused.until) throw this.#refused.error;
    await cancellation.orElse(this.stopped);
    if (this.#limit.waitMs > 0) await cancellation.orElse(sleep(this.#limit.waitMs));
  }

  #noteFailedStart(error: unknown): void {
    // One that died of the question is started again at once, and only that start counts.
    if (hasFlag(error, 'diedOfProbe') && !this.#endsAnyway) this.#limit.forgetStart();
    else this.#limit.noteEnd('failed');
  }

  #noteRefusal(error: unknown): void {
    if (!(error instanceof SwitchboardError)) return;
    const seconds = error.data['retryAfterSeconds'];
    if (typeof seconds !== 'number') return;
    this.#refused = { until: performance.now() + seconds * 1_000, error };
  }
}

/** The configured one, or what worked last time. */
function firstFraming(config: ChildConfig, catalog: Catalog): Framing {
  if (config.framing !== 'auto') return config.framing;
  return catalog.get(config).framing ?? 'newline';
}

function hasFlag(error: unknown, flag: string): boolean {
  return error instanceof SwitchboardError && error.data[flag] === true;
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
