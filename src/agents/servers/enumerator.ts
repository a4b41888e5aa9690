// Finds out a server's tools: from the catalog, or by starting the server just for that. Each server is asked once
// per process, no matter how many agents need its tools.
import { Cancellation } from '../../base/cancellation.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { formatDuration } from '../../base/text.ts';
import { withTimeout } from '../../base/time.ts';
import { parseCounts } from '../../child/screen.ts';
import type { ChildConfig } from '../../config/config.ts';
import { type Hints, hintsOf } from '../../mcp/annotations.ts';
import { parseTools, type Tool } from '../../mcp/tools.ts';
import type { Catalog } from '../../pool/catalog.ts';
import { listAll } from '../../pool/list-keeper.ts';
import type { Pool } from '../../pool/pool.ts';
import type { StartChild } from '../../pool/slot.ts';
import { Queue } from '../queue.ts';
import { asChild, type ServerStartOptions } from './attach.ts';
import type { Candidate } from './candidate.ts';

export interface EnumeratorParts {
  readonly start: StartChild;
  readonly catalog: Catalog;
  /** For Switchboard's own servers. */
  readonly pool: Pick<Pool, 'tools' | 'warm' | 'refusedTools' | 'hintsInForce'>;
}

export interface EnumerateOptions extends ServerStartOptions {
  /** For each step: start, list, stop. */
  readonly limitMs: number;
  readonly cancellation: Cancellation;
  /** Don't trust the catalog's list from an earlier process. */
  readonly isFresh?: boolean | undefined;
  /** Don't start anything; use only known lists. */
  readonly isQuiet?: boolean | undefined;
}

type Tools = readonly Tool[];

const MOST_AT_ONCE = 8;
/** A failed server isn't tried again for each agent, but may be fixed after this. */
const FAILURE_HOLDS_MS = 60_000;

export class Enumerator implements AsyncDisposable {
  readonly #parts: EnumeratorParts;
  readonly #queue = new Queue(() => MOST_AT_ONCE);
  /** By how the server is started. */
  readonly #underWay = new Map<string, SharedWork<Tools>>();
  readonly #failed = new Map<string, { readonly error: unknown; readonly until: number }>();
  /** Asked by this process. */
  readonly #asked = new Set<string>();

  constructor(parts: EnumeratorParts) {
    this.#parts = parts;
  }

  /** The names of the tools that permissions allow without asking. */
  async tools(server: Candidate, options: EnumerateOptions): Promise<readonly string[]> {
    const { rules } = server;
    const tools = await this.#tools(server, options);
    const allowed = rules
      ? tools.filter((tool) => {
          const hints = this.#hintsOf(tool, server, options);
          const target = { kind: 'tool', name: tool.name, hints } as const;
          return rules.decide(target)?.permission === 'allow';
        })
      : tools;
    return allowed.map(({ name }) => name);
  }

  /** Claims that grant more than the user has accepted don't count. */
  #hintsOf(tool: Tool, server: Candidate, options: EnumerateOptions): Hints {
    const { pool, catalog } = this.#parts;
    if (server.isOwn) return pool.hintsInForce(server.key, tool);
    const { rights } = catalog.get(asChild(server, options, options.limitMs));
    return rights && Object.hasOwn(rights, tool.name)
      ? (rights[tool.name] ?? hintsOf(tool))
      : hintsOf(tool);
  }

  async #tools(server: Candidate, options: EnumerateOptions): Promise<Tools> {
    options.cancellation.throwIfCancelled();
    if (server.isOwn) return this.#ownTools(server, options);
    const config = asChild(server, options, options.limitMs);
    const id = declarationOf(server);
    const known = this.#parts.catalog.get(config).lists.tools;
    if (known && (!options.isFresh || options.isQuiet || this.#asked.has(id)))
      return parseTools(known);
    if (options.isQuiet) throw notKnown(config.name);
    const failed = this.#failed.get(id);
    if (failed && performance.now() < failed.until) throw failed.error;
    return this.#workFor(id, config, options.limitMs).join(options.cancellation);
  }

  /** The tools of its known list that must not be used. */
  refused(server: Candidate, options: ServerStartOptions): readonly string[] {
    const { pool, catalog } = this.#parts;
    const refused = server.isOwn
      ? pool.refusedTools(server.key)
      : catalog.get(asChild(server, options)).refused;
    return refused.map(({ name }) => name);
  }

  /** Cancels all work in progress and waits until nothing of it is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    const reason = new SwitchboardError('CANCELLED', 'Switchboard is shutting down.');
    await Promise.all([...this.#underWay.values()].map((work) => work.cancel(reason)));
  }

  #workFor(id: string, config: ChildConfig, limitMs: number): SharedWork<Tools> {
    const found = this.#underWay.get(id);
    if (found) return found;
    const forget = (): void => {
      if (this.#underWay.get(id) === work) this.#underWay.delete(id);
    };
    const work: SharedWork<Tools> = new SharedWork(async (cancellation) => {
      try {
        const tools = await this.#queue.during(cancellation, () =>
          this.#ask(config, limitMs, cancellation),
        );
        this.#asked.add(id);
        return tools;
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

  /** Starts the server, lists its tools, and stops it in any case. */
  async #ask(config: ChildConfig, limitMs: number, cancellation: Cancellation): Promise<Tools> {
    cancellation.throwIfCancelled();
    const { start, catalog } = this.#parts;
    let stopped: Promise<unknown> = Promise.resolve();
    const onStopping = (stopping: Promise<void>): void => {
      stopped = Promise.all([stopped, stopping]);
    };
    try {
      const child = await withTimeout(
        limitMs,
        cancellation,
        () => tooLate(config.name, 'start', limitMs),
        (limited) =>
          start(config, {
            cancellation: limited,
            preferredEra: 'handshake',
            onNotification: () => {},
            onStopping,
          }),
      );
      try {
        const tools = await withTimeout(
          limitMs,
          cancellation,
          () => tooLate(config.name, 'list its tools', limitMs),
          (limited) => limited.race(listAll(child, 'tools')),
        );
        const isSecret = child.holdsSecret(JSON.stringify(tools));
        const { refusedTools: refused, verdict } = child;
        const changes = parseCounts(verdict.counts);
        const rights = Object.fromEntries(verdict.rights);
        catalog.rememberList(config, 'tools', tools, { isSecret, refused, rights, changes });
        return parseTools(tools);
      } finally {
        await child.stop();
      }
    } finally {
      await stopped;
    }
  }

  /** The pool starts it if necessary, and keeps it running. */
  async #ownTools(server: Candidate, options: EnumerateOptions) {
    const { limitMs, cancellation, isFresh, isQuiet } = options;
    const { key } = server;
    const id = declarationOf(server); // a reload may change it
    const { pool } = this.#parts;
    const known = pool.tools(key);
    if (known && (!isFresh || isQuiet || this.#asked.has(id))) return known;
    if (isQuiet) throw notKnown(key);
    const bothMs = 2 * limitMs;
    await withTimeout(
      bothMs,
      cancellation,
      () => tooLate(key, 'start and list its tools', bothMs),
      (limited) => limited.race(pool.warm(key)),
    );
    this.#asked.add(id);
    return pool.tools(key) ?? [];
  }
}

/** How a server is declared, as a key. */
function declarationOf({ key, origin, cmd, args, env, cwd, url, headers }: Candidate): string {
  return JSON.stringify([key, origin, cmd, args, env, cwd, url, headers]);
}

function notKnown(name: string): SwitchboardError {
  return new SwitchboardError(
    'SUBTOOL_UNKNOWN',
    `Switchboard hasn't listed the tools of server "${name}" yet.`,
    {
      hint: 'It lists them the first time you run an agent. To list them now, run: switchboard agents --check',
    },
  );
}

function tooLate(name: string, task: string, limitMs: number): SwitchboardError {
  return new SwitchboardError(
    'CHILD_TIMEOUT',
    `Server "${name}" did not ${task} within ${formatDuration(limitMs)}.`,
    { hint: 'If it needs longer, raise AGENTS_MCP_ENUM_TIMEOUT_MS.', data: { child: name } },
  );
}

/**
 * Work that several callers wait for. It is cancelled when the last of them leaves; that caller then waits for its
 * end.
 */
class SharedWork<T> {
  readonly #cancellation = new Cancellation();
  readonly #work: Promise<T>;
  readonly #onAbandoned: () => void;
  #waiting = 0;

  constructor(work: (cancellation: Cancellation) => Promise<T>, onAbandoned: () => void) {
    this.#work = work(this.#cancellation);
    this.#work.catch(() => {}); // the waiting callers get it
    this.#onAbandoned = onAbandoned;
  }

  async join(cancellation: Cancellation): Promise<T> {
    this.#waiting++;
    try {
      return await cancellation.race(this.#work);
    } catch (error) {
      if (cancellation.reason && this.#waiting === 1) await this.cancel(cancellation.reason);
      throw error;
    } finally {
      this.#waiting--;
    }
  }

  /** Cancels the work for everyone, and waits for its end. */
  async cancel(reason: Error): Promise<void> {
    this.#onAbandoned();
    this.#cancellation.cancel(reason);
    await this.#work.catch(() => {}); // only its end matters
  }
}
