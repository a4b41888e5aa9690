// Suites: one small tool for each child, with the actions `introspect` and `call`. The child is
// started when one of them is first used, never for the list.
import { SwitchboardError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { ChildConfig, Introspection } from '../config/config.ts';
import { isExposed } from '../config/server/expose.ts';
import { type Hints, hintsOf, isReadOnly, READ_ONLY, weakestHints } from '../mcp/annotations.ts';
import { freeName, toToolName } from '../mcp/names.ts';
import { dataResult, type Tool } from '../mcp/tools.ts';
import type { Pool } from '../pool/pool.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import { type Claim, Claims } from './claims.ts';
import { isGatewayName } from './gateway.ts';
import { describeSubtools } from './introspect.ts';
import { useChild } from './starting.ts';
import { callSubtool, notAllowed, unknownSubtool } from './subtool.ts';
import { type Access, createSuiteTool, parseSuiteAction } from './suite-tool.ts';
import type { ToolCall } from './surface.ts';

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

export class Suites {
  readonly #pool: Pool;
  readonly #claims: Claims;
  readonly #suites = new Map<string, Suite>();
  /** The suites for all subtools, by their children's names. */
  readonly #byChild = new Map<string, Suite>();
  /** A suite that was renamed can still be called by the name it would have had. */
  readonly #byDefaultName = new Map<string, Suite>();

  constructor(children: Iterable<ChildConfig>, pool: Pool, log: Log, claims = new Claims()) {
    this.#pool = pool;
    this.#claims = claims;
    const taken = { has: (name: string) => isGatewayName(name) || this.#suites.has(name) };
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

  /** The name of the tool that stands for a child. */
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
   * A child has listed other tools. Returns whether its suite claims something else now. Claims only
   * become weaker, so that a list that changes back and forth doesn't change ours each time.
   */
  learn(childName: string): boolean {
    const suite = this.#byChild.get(childName);
    const known = suite && this.#findOut(suite.config).hints;
    if (!known) return false;
    const before = suite.hints ?? {};
    suite.hints = suite.hints ? weakestHints([suite.hints, known]) : known;
    return JSON.stringify(suite.hints) !== JSON.stringify(before);
  }

  /** `isClaimed`: the host was told that this suite is read-only. */
  callTool(call: ToolCall, isClaimed = false): Promise<Verbatim> {
    const suite = this.#find(call.name);
    if (!suite) throw new Error(`There is no suite ${call.name}.`);
    const { config } = suite;
    const wanted = parseSuiteAction(call.name, call.args);
    if (wanted.action === 'introspect') {
      const mode = wanted.verbosity ?? config.introspection.mode;
      return this.#introspect(suite, call, wanted.subtool, { ...config.introspection, mode });
    }
    const { subtool, args } = wanted;
    if (suite.access === 'all' && !isClaimed) {
      return callSubtool(this.#pool, config, call, subtool, args);
    }
    return this.#callReadOnly(suite, call, subtool, args);
  }

  #find(toolName: string): Suite | undefined {
    return this.#suites.get(toolName) ?? this.#byDefaultName.get(toolName);
  }

  /** Computes the claim from the catalog. */
  #findOut(config: ChildConfig): Claim {
    const { name, expose } = config;
    if (!this.#pool.mayKnow(name)) return NOTHING;
    const known = [...(this.#pool.hints(name) ?? [])];
    const exposed = known.filter(([subtool]) => isExposed(subtool, expose));
    const all = exposed.map(([, hints]) => hints);
    const claim = {
      hints: all.length > 0 ? weakestHints(all) : undefined,
      words: exposed.map(([subtool]) => subtool).slice(0, MOST_WORDS),
    };
    if (known.length > 0 && !this.#pool.areToolsSecret(name)) this.#claims.set(config, claim);
    return claim;
  }

  async #callReadOnly(
    suite: Suite,
    call: ToolCall,
    subtool: string,
    args: Verbatim,
  ): Promise<Verbatim> {
    const { config } = suite;
    if (!isExposed(subtool, config.expose)) throw notAllowed(config, subtool);
    if (!this.#pool.hints(config.name)?.has(subtool)) {
      const child = await useChild(this.#pool, config, call);
      this.#pool.remember(config, await child.listTools({ cancellation: call.cancellation }));
    }
    const hints = this.#pool.hints(config.name)?.get(subtool);
    if (!hints || !isReadOnly(hints)) throw notReadOnly(suite, subtool, this.toolFor(config.name));
    return callSubtool(this.#pool, config, call, subtool, args);
  }

  async #introspect(
    { config, access }: Suite,
    call: ToolCall,
    subtool: string | undefined,
    settings: Introspection,
  ): Promise<Verbatim> {
    const child = await useChild(this.#pool, config, call);
    const tools = await child.listTools({ cancellation: call.cancellation });
    this.#pool.remember(config, tools);
    const shown = tools.filter(
      (tool) =>
        isExposed(tool.name, config.expose) && (access === 'all' || isReadOnly(hintsOf(tool))),
    );
    if (subtool === undefined) {
      const refused = child.refusedTools.length;
      return dataResult(describeSubtools(shown, settings, refused), call.framing);
    }
    const wanted = shown.filter(({ name }) => name === subtool);
    if (wanted.length === 0) throw unknownSubtool(child, config, subtool);
    return dataResult(describeSubtools(wanted, settings), call.framing);
  }
}

function notReadOnly(
  { name, config, access }: Suite,
  subtool: string,
  suiteName: string,
): SwitchboardError {
  const hint =
    access === 'read'
      ? `Call it through ${suiteName}.`
      : `The server's tools have changed since this host listed ${name} as read-only. Refresh the host's tool list, or reconnect.`;
  return new SwitchboardError(
    'TOOL_NOT_ALLOWED',
    `Subtool "${subtool}" of server "${config.name}" is not marked as read-only, so ${name} cannot call it.`,
    { hint },
  );
}
