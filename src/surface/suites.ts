// Suites: one small tool per server, with the actions `introspect` and `call`. Listing them starts no
// server; the first use of one does.
import type { Log } from '../base/log.ts';
import type { CallContext, ReadOnlyClaim } from '../calls/call.ts';
import type { Calls } from '../calls/calls.ts';
import { heldBack, unknownSubtool } from '../calls/tool-call.ts';
import { isUsable } from '../calls/usable.ts';
import type { ChildConfig, Introspection } from '../config/config.ts';
import { type Hints, hintsOf, isReadOnly, READ_ONLY, weakestHints } from '../mcp/annotations.ts';
import { isHeld } from '../mcp/clean-lists.ts';
import { freeName, toToolName } from '../mcp/names.ts';
import { dataResult, type Tool } from '../mcp/tools.ts';
import type { Pool } from '../pool/pool.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import { type Claim, Claims } from './claims.ts';
import { describeSubtools } from './introspect.ts';
import { isReservedName } from './modes/table.ts';
import { type Access, createSuiteTool, parseSuiteAction } from './suite-tool.ts';

interface Suite {
  readonly name: string;
  readonly config: ChildConfig;
  readonly access: Access;
  /** The claimed annotations; undefined until something is known. */
  hints: Hints | undefined;
  /** The subtools' names, fixed at the first listing so that the list stays stable. */
  words: readonly string[] | undefined;
}

const NOTHING: Claim = { hints: undefined, words: [] };

/** More than fits into a search hint. */
const MOST_WORDS = 100;

interface SuitesParts {
  readonly pool: Pool;
  readonly calls: Calls;
  readonly log: Log;
  readonly claims?: Claims;
}

export class Suites {
  readonly #pool: Pool;
  readonly #calls: Calls;
  readonly #claims: Claims;
  readonly #suites = new Map<string, Suite>();
  /** The suites for all subtools, by their children's names. */
  readonly #byChild = new Map<string, Suite>();
  /** A renamed suite can still be called by its default name. */
  readonly #byDefaultName = new Map<string, Suite>();

  constructor(
    children: Iterable<ChildConfig>,
    { pool, calls, log, claims = new Claims() }: SuitesParts,
  ) {
    this.#pool = pool;
    this.#calls = calls;
    this.#claims = claims;
    const taken = { has: (name: string) => isReservedName(name) || this.#suites.has(name) };
    const add = (wanted: string, config: ChildConfig, access: Access): Suite => {
      const name = freeName(wanted, taken);
      if (name !== wanted) {
        log.warn(`the tool name ${wanted} is taken; server "${config.name}" is shown as ${name}.`);
      }
      const hints = access === 'read' ? READ_ONLY : undefined;
      const suite: Suite = { name, config, access, hints, words: undefined };
      this.#suites.set(name, suite);
      return suite;
    };
    for (const config of children) {
      const suite = add(toToolName(config.suiteName ?? `${config.name}_suite`), config, 'all');
      this.#byChild.set(config.name, suite);
      this.#byDefaultName.set(toToolName(`${config.name}_suite`), suite);
      if (config.readOnlyTool) add(toToolName(`${suite.name}_read`), config, 'read');
    }
  }

  has(toolName: string): boolean {
    return this.#find(toolName) !== undefined;
  }

  /** The server behind a suite, if it is pending. */
  waiting(toolName: string): ChildConfig | undefined {
    const config = this.#find(toolName)?.config;
    return config?.problem?.code === 'APPROVAL_NEEDED' ? config : undefined;
  }

  /** The name of a server's suite. */
  toolFor(childName: string): string {
    const suite = this.#byChild.get(childName);
    if (suite) return suite.name;
    throw new Error(`There is no suite for ${childName}.`);
  }

  /** The suites of these children. `isLoaded`: hosts should load them at once. */
  listTools(isListed: (config: ChildConfig) => boolean, isLoaded: boolean): Tool[] {
    const listed = [...this.#suites.values()].filter(({ config }) => isListed(config));
    return listed.map((suite) => {
      const { name, config, access } = suite;
      if (!suite.hints || !suite.words) {
        const { hints, words } = this.#claims.get(config) ?? this.#findOut(config);
        suite.hints ??= hints;
        suite.words ??= words;
      }
      const searchWords = isLoaded ? undefined : suite.words;
      return createSuiteTool(name, config, { hints: suite.hints, access, searchWords });
    });
  }

  /**
   * A server has listed other tools. Returns whether its suite's claims have changed. Claims only become weaker, so
   * that a list that changes back and forth doesn't change ours each time.
   */
  learn(childName: string): boolean {
    const suite = this.#byChild.get(childName);
    const known = suite && this.#findOut(suite.config).hints;
    if (!known) return false;
    const before = suite.hints ?? {};
    suite.hints = suite.hints ? weakestHints([suite.hints, known]) : known;
    return JSON.stringify(suite.hints) !== JSON.stringify(before);
  }

  /** `isClaimed`: the host's list marks this suite as read-only. */
  callTool(
    name: string,
    args: Verbatim,
    context: CallContext,
    isClaimed = false,
  ): Promise<Verbatim> {
    const suite = this.#find(name);
    if (!suite) throw new Error(`There is no suite ${name}.`);
    const wanted = parseSuiteAction(name, args);
    if (wanted.action === 'introspect') {
      const mode = wanted.verbosity ?? suite.config.introspection.mode;
      const settings = { ...suite.config.introspection, mode };
      return this.#introspect(suite, wanted.subtool, settings, context);
    }
    const isUnrestricted = suite.access === 'all' && !isClaimed;
    return this.#calls.send({
      server: suite.config,
      method: 'tools/call',
      target: wanted.subtool,
      params: wanted.args,
      context,
      through: 'suite',
      readOnly: isUnrestricted ? undefined : this.#readOnlyClaim(suite),
    });
  }

  #find(toolName: string): Suite | undefined {
    return this.#suites.get(toolName) ?? this.#byDefaultName.get(toolName);
  }

  /** Computes the claim from the catalog. */
  #findOut(config: ChildConfig): Claim {
    const { name } = config;
    if (!this.#pool.mayKnow(name)) return NOTHING;
    const known = [...(this.#pool.hints(name) ?? [])];
    const exposed = known.filter(([subtool, annotations]) =>
      isUsable({ name: subtool, annotations }, config, this.#pool),
    );
    const all = exposed.map(([, hints]) => hints);
    const claim = {
      hints: all.length > 0 ? weakestHints(all) : undefined,
      words: exposed.map(([subtool]) => subtool).slice(0, MOST_WORDS),
    };
    if (known.length > 0 && !this.#pool.areToolsSecret(name)) this.#claims.set(config, claim);
    return claim;
  }

  async #introspect(
    { config, access }: Suite,
    subtool: string | undefined,
    settings: Introspection,
    context: CallContext,
  ): Promise<Verbatim> {
    const tools = await this.#calls.listTools(config, context);
    const hints = access === 'all' ? undefined : this.#pool.hints(config.name);
    const shown = tools.filter(
      (tool) =>
        isUsable(tool, config, this.#pool) &&
        (access === 'all' || isReadOnly(hints?.get(tool.name) ?? hintsOf(tool))),
    );
    if (subtool === undefined) {
      const refused = this.#pool.refusedTools(config.name);
      return dataResult(describeSubtools(shown, settings, refused), context.framing);
    }
    const wanted = shown.filter(({ name }) => name === subtool);
    if (wanted.length === 0) {
      const held = this.#pool.refusedTools(config.name).find(({ name }) => name === subtool);
      if (held && isHeld(held)) throw heldBack('Subtool', config, held);
      const names = tools.map(({ name }) => name);
      throw unknownSubtool(config, subtool, names);
    }
    return dataResult(describeSubtools(wanted, settings), context.framing);
  }

  #readOnlyClaim({ name, config, access }: Suite): ReadOnlyClaim {
    const hint =
      access === 'read'
        ? `Call it through ${this.toolFor(config.name)}.`
        : `The server's tools have changed since this host listed ${name} as read-only. Refresh the host's tool list, or reconnect.`;
    return { suite: name, hint };
  }
}
