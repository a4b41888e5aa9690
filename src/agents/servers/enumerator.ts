// Which tools a server has: as the catalog remembers it, or as the server says when it is started for
// that alone. Each is asked once in a run of this program, however many agents want to know.
import type { Cancellation } from '../../base/cancellation.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { formatDuration } from '../../base/text.ts';
import { withinLimit } from '../../base/time.ts';
import type { ChildConfig } from '../../config/config.ts';
import { parseTools } from '../../mcp/tools.ts';
import type { Catalog } from '../../pool/catalog.ts';
import { listAll } from '../../pool/list-keeper.ts';
import type { Pool } from '../../pool/pool.ts';
import { type StartChild, Starter } from '../../pool/starter.ts';
import { Queue } from '../queue.ts';
import { asChild, type StartOptions } from './attach.ts';
import type { Candidate } from './candidate.ts';
import { SharedWork } from './shared-work.ts';

export interface EnumeratorParts {
  readonly start: StartChild;
  readonly catalog: Catalog;
  /** For the servers behind this Switchboard. */
  readonly pool: Pick<Pool, 'tools' | 'warm'>;
}

export interface EnumerateOptions extends StartOptions {
  /** Milliseconds for each step: start, list, stop. */
  readonly limitMs: number;
  readonly cancellation: Cancellation;
  /** What was learned in an earlier run of this program is not enough. */
  readonly isFresh?: boolean | undefined;
  /** Only what is known already is told; nothing is started. */
  readonly isQuiet?: boolean | undefined;
}

type Names = readonly string[];

const MOST_AT_ONCE = 8;
/** One that failed is not started again for each agent; by then somebody may have mended it. */
const FAILURE_HOLDS_MS = 60_000;

export class Enumerator implements AsyncDisposable {
  readonly #parts: EnumeratorParts;
  readonly #queue = new Queue(() => MOST_AT_ONCE);
  /** By what is started, and how. */
  readonly #underWay = new Map<string, SharedWork<Names>>();
  readonly #failed = new Map<string, { readonly error: unknown; readonly until: number }>();
  /** What was asked in this run. */
  readonly #asked = new Set<string>();

  constructor(parts: EnumeratorParts) {
    this.#parts = parts;
  }

  /** The names of its tools. Rejects with what keeps it from telling. */
  async tools(server: Candidate, options: EnumerateOptions): Promise<Names> {
    options.cancellation.throwIfCancelled();
    if (server.isOwn) return this.#ownTools(server, options);
    const config = asChild(server, options, options.limitMs);
    const id = JSON.stringify([
      config.name,
      config.origin,
      config.command,
      config.remote,
      config.cwd,
    ]);
    const known = this.#parts.catalog.get(config).lists.tools;
    if (known && (!options.isFresh || options.isQuiet || this.#asked.has(id)))
      return namesOf(known);
    if (options.isQuiet) throw notKnown(config.name);
    const failed = this.#failed.get(id);
    if (failed && performance.now() < failed.until) throw failed.error;
    return this.#workFor(id, config, options.limitMs).join(options.cancellation);
  }

  /** Ends what is under way; nothing of it is left then. */
  async [Symbol.asyncDispose](): Promise<void> {
    const reason = new SwitchboardError('CANCELLED', 'Switchboard is shutting down.');
    await Promise.all([...this.#underWay.values()].map((work) => work.cancel(reason)));
  }

  #workFor(id: string, config: ChildConfig, limitMs: number): SharedWork<Names> {
    const found = this.#underWay.get(id);
    if (found) return found;
    const forget = (): void => {
      if (this.#underWay.get(id) === work) this.#underWay.delete(id);
    };
    const work: SharedWork<Names> = new SharedWork(async (cancellation) => {
      try {
        const names = await this.#queue.during(cancellation, () =>
          this.#ask(config, limitMs, cancellation),
        );
        this.#asked.add(id);
        return names;
      } catch (error) {
        const until = performance.now() + FAILURE_HOLDS_MS;
        if (!cancellation.reason) this.#failed.set(id, { error, until });
        throw error;
      } finally {
        forget();
      }
    }, forget);
    this.#underWay.set(id, work);
    return work;
  }

  /** Starts the server, has it list its tools, and ends it, whatever comes of it. */
  async #ask(config: ChildConfig, limitMs: number, cancellation: Cancellation): Promise<Names> {
    cancellation.throwIfCancelled();
    const { start, catalog } = this.#parts;
    const starter = new Starter({ start, catalog, onNotification: () => {}, after: undefined });
    try {
      const child = await withinLimit(
        limitMs,
        cancellation,
        () => tooLate(config.name, 'start', limitMs),
        (limited) => starter.start(config, { cancellation: limited, preferredEra: 'handshake' }),
      );
      try {
        const tools = await withinLimit(
          limitMs,
          cancellation,
          () => tooLate(config.name, 'list its tools', limitMs),
          (limited) => limited.orElse(listAll(child, 'tools')),
        );
        const isSecret = child.holdsSecret(JSON.stringify(tools));
        const { refusedTools: refused } = child;
        catalog.rememberList(config, 'tools', tools, { isSecret, refused });
        return namesOf(tools);
      } finally {
        await child.stop();
      }
    } finally {
      await starter.stopped;
    }
  }

  /** The pool starts it if it has to, and keeps it for whoever uses it next. */
  async #ownTools({ key }: Candidate, options: EnumerateOptions) {
    const { limitMs, cancellation, isFresh, isQuiet } = options;
    const { pool } = this.#parts;
    const known = pool.tools(key);
    if (known && (!isFresh || isQuiet || this.#asked.has(key))) return namesOf(known);
    if (isQuiet) throw notKnown(key);
    const bothMs = 2 * limitMs;
    await withinLimit(
      bothMs,
      cancellation,
      () => tooLate(key, 'start and list its tools', bothMs),
      (limited) => limited.orElse(pool.warm(key)),
    );
    this.#asked.add(key);
    return namesOf(pool.tools(key) ?? []);
  }
}

function namesOf(tools: readonly unknown[]): string[] {
  return parseTools(tools).map(({ name }) => name);
}

function notKnown(name: string): SwitchboardError {
  return new SwitchboardError('SUBTOOL_UNKNOWN', `The tools of "${name}" are not known yet.`, {
    hint: 'A run asks for them; so does: switchboard agents --check',
  });
}

function tooLate(name: string, task: string, limitMs: number): SwitchboardError {
  return new SwitchboardError(
    'CHILD_TIMEOUT',
    `Server "${name}" did not ${task} within ${formatDuration(limitMs)}.`,
    { hint: 'If it needs longer, raise AGENTS_MCP_ENUM_TIMEOUT_MS.', data: { child: name } },
  );
}
