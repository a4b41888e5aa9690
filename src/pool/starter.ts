// Starts one server, as often as needed: not too often, not before its previous process has exited, and in the
// framing and era that worked before.
import type { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import { sleep } from '../base/time.ts';
import type { Greeting } from '../child/handshake.ts';
import type { ChildConfig } from '../config/config.ts';
import { isPackageRunner } from '../config/server/runners.ts';
import type { Era } from '../mcp/eras.ts';
import type { Framing } from '../rpc/framing.ts';
import type { Catalog } from './catalog.ts';
import { either } from './either.ts';
import { RestartLimit } from './restart.ts';

export interface StartAttempt {
  readonly framing: Framing;
  /** The framing to try next if this start gets no answer; undefined if none is tried. */
  readonly nextFraming: Framing | undefined;
  /** Called if the child prints no message for this long. */
  readonly silence?: { readonly afterMs: number; readonly onSilent: () => void } | undefined;
  readonly cancellation: Cancellation;
  readonly onStarting: () => void;
  readonly onStopping: (stopped: Promise<void>) => void;
  readonly era: Era | undefined;
  readonly preferredEra: Era;
}

/** What a start results in. */
interface Startable {
  readonly greeting: Pick<Greeting, 'era'>;
  stop(): Promise<void>;
}

/** Makes one attempt. */
type Attempt<T> = (config: ChildConfig, attempt: StartAttempt) => Promise<T>;

export interface StartRequest<T> {
  readonly attempt: Attempt<T>;
  /** Knows the framing and era that worked before. */
  readonly catalog: Catalog;
  readonly cancellation: Cancellation;
  /** The era to use with a child that speaks both. */
  readonly preferredEra: Era;
}

/** Many servers need a few seconds to start, and the second process needs one. */
const SLOW_START_MS = 3_000;
const SECOND_START_MS = 1_000;

/** Half of the time. If it is short, more of it goes to the first process. */
export function silenceBeforeOther(spawnMs: number): number {
  return Math.max(spawnMs / 2, Math.min(SLOW_START_MS, spawnMs - SECOND_START_MS));
}

export class Starter<T extends Startable> {
  readonly #limit = new RestartLimit();
  #framing: Framing | undefined;
  /** Its last start got no answer. */
  #wasSilent = false;
  /** The current start has created a process. */
  #wasStarted = false;
  /** It also exited at a start without a probe. */
  #endsAnyway = false;
  /** The server asked not to be contacted until then, for this reason. */
  #refused: { readonly until: number; readonly error: Error } | undefined;
  /** The end of the previous process. The next start waits for it: two would get in each other's way. */
  stopped: Promise<void> = Promise.resolve();

  async start(config: ChildConfig, wish: StartRequest<T>): Promise<T> {
    try {
      return await this.#startOnce(config, wish, undefined);
    } catch (error) {
      // If it also exits without a probe, the probe isn't the reason.
      if (!hasFlag(error, 'diedOfProbe') || this.#endsAnyway || wish.cancellation.reason)
        throw error;
      this.#endsAnyway = true;
      return this.#startOnce(config, wish, 'handshake');
    }
  }

  /** The child has exited. */
  noteEnd(hasAnswered: boolean, stopped: Promise<void>): void {
    this.#limit.noteEnd(hasAnswered ? 'worked' : 'failed');
    this.alsoWaitFor(stopped);
  }

  /** The child was stopped because it was idle, so the next start doesn't count against it. */
  noteIdle(): void {
    this.#limit.forget();
  }

  /** Whether the server asked not to be contacted for now. */
  get isRefused(): boolean {
    return this.#refused !== undefined && performance.now() < this.#refused.until;
  }

  /** The next start waits for this, too. */
  alsoWaitFor(stopped: Promise<void>): void {
    this.stopped = Promise.all([this.stopped, stopped]).then(() => {});
  }

  async #startOnce(config: ChildConfig, wish: StartRequest<T>, era: Era | undefined): Promise<T> {
    const { catalog } = wish;
    await this.#wait(config, wish.cancellation);
    this.#framing ??= firstFraming(config, catalog);
    this.#wasStarted = false;
    try {
      const child = await this.#startIn(this.#framing, config, wish, era);
      this.#wasSilent = false;
      this.#endsAnyway = false;
      if (canVary(config)) catalog.rememberFraming(config, this.#framing);
      catalog.rememberEra(config, child.greeting.era);
      return child;
    } catch (error) {
      if (this.#wasStarted) this.#noteFailedStart(error);
      this.#wasSilent = hasFlag(error, 'silent');
      if (this.#wasSilent && isRunner(config)) this.#framing = nextFraming(config, this.#framing);
      this.#noteRefusal(error);
      throw error;
    }
  }

  #startIn(
    framing: Framing,
    config: ChildConfig,
    wish: StartRequest<T>,
    era: Era | undefined,
  ): Promise<T> {
    const isProven = wish.catalog.get(config).framing !== undefined && !this.#wasSilent;
    if (canVary(config) && !isRunner(config) && !isProven) {
      return this.#startInEither(framing, config, wish, era);
    }
    // A download can take any time, so a runner tries the other framing at its next start.
    const next = isRunner(config) ? nextFraming(config, framing) : undefined;
    return this.#attempt(config, wish, era, { framing, nextFraming: next });
  }

  /**
   * Starts a child whose framing isn't known. If it prints no message for about half of its time, a second
   * process starts with the other framing; no process ever gets both. The first keeps running, because it
   * may only be slow.
   */
  async #startInEither(
    framing: Framing,
    config: ChildConfig,
    wish: StartRequest<T>,
    era: Era | undefined,
  ): Promise<T> {
    const { spawnMs } = config.timeouts;
    const afterMs = silenceBeforeOther(spawnMs);
    const inRest = { ...config, timeouts: { ...config.timeouts, spawnMs: spawnMs - afterMs } };
    const other = otherThan(framing);
    const started = await either(wish.cancellation, {
      first: async (cancellation, tryOther) => {
        const onSilent = (): void => {
          if (this.#limit.parkedMs(performance.now()) === 0) tryOther();
        };
        const how = { framing, silence: { afterMs, onSilent } };
        const child = await this.#attempt(config, { ...wish, cancellation }, era, how);
        return { child, framing };
      },
      other: async (cancellation) => {
        const how = { framing: other };
        const child = await this.#attempt(inRest, { ...wish, cancellation }, era, how);
        return { child, framing: other };
      },
      discard: ({ child }) => this.alsoWaitFor(child.stop()),
    });
    this.#framing = started.framing;
    return started.child;
  }

  #attempt(
    config: ChildConfig,
    wish: StartRequest<T>,
    era: Era | undefined,
    how: Pick<StartAttempt, 'framing'> & Partial<StartAttempt>,
  ): Promise<T> {
    const { catalog, attempt, cancellation, preferredEra } = wish;
    return attempt(config, {
      nextFraming: undefined,
      cancellation,
      preferredEra,
      ...how,
      onStarting: () => {
        this.#wasStarted = true;
        this.#limit.noteStart(performance.now());
      },
      onStopping: (stopped) => this.alsoWaitFor(stopped),
      era: era ?? catalog.eraOf(config),
    });
  }

  /** Waits as long as the next start has to; throws if it isn't allowed. */
  async #wait(config: ChildConfig, cancellation: Cancellation): Promise<void> {
    const now = performance.now();
    const parkedMs = this.#limit.parkedMs(now);
    if (parkedMs > 0) throw parked(config, parkedMs);
    if (this.#refused && this.isRefused) throw this.#refused.error;
    await cancellation.race(this.stopped);
    if (this.#limit.waitMs > 0) await cancellation.race(sleep(this.#limit.waitMs));
  }

  #noteFailedStart(error: unknown): void {
    // A child that exited because of the probe is started again at once, and only that start counts.
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

/** The configured framing, or the one that worked last time. */
function firstFraming(config: ChildConfig, catalog: Catalog): Framing {
  if (config.framing !== 'auto') return config.framing;
  return catalog.get(config).framing ?? 'newline';
}

/** Whether we have to find out the framing. */
function canVary({ framing, command }: ChildConfig): boolean {
  return framing === 'auto' && command !== undefined;
}

function isRunner({ command }: ChildConfig): boolean {
  return command !== undefined && isPackageRunner(command);
}

function nextFraming(config: ChildConfig, framing: Framing): Framing | undefined {
  return canVary(config) ? otherThan(framing) : undefined;
}

function otherThan(framing: Framing): Framing {
  return framing === 'newline' ? 'content-length' : 'newline';
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
      hint: `Find out why it exits: switchboard doctor ${name}`,
      data: { child: name, until: until.toISOString() },
    },
  );
}
