// Suites: one small tool for each child, with the actions `introspect` and `call`. The child is
// started when one of them is first used, never for the list.
import type { Log } from '../base/log.ts';
import type { ChildConfig, Introspection } from '../config/config.ts';
import { isExposed } from '../config/expose.ts';
import { freeName, toToolName } from '../mcp/names.ts';
import { dataResult, type Tool } from '../mcp/tools.ts';
import type { Pool } from '../pool/pool.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import { isGatewayName } from './gateway.ts';
import { describeSubtools } from './introspect.ts';
import { callSubtool, unknownSubtool } from './subtool.ts';
import { createSuiteTool, parseSuiteAction } from './suite-tool.ts';
import type { ToolCall } from './surface.ts';

interface Suite {
  readonly config: ChildConfig;
  readonly tool: Tool;
}

export class Suites {
  readonly #pool: Pool;
  readonly #suites = new Map<string, Suite>();
  /** The names of the suites, by their children's. */
  readonly #byChild = new Map<string, string>();
  /** A suite that was renamed can still be called by the name it would have had. */
  readonly #byDefaultName = new Map<string, Suite>();

  constructor(children: Iterable<ChildConfig>, pool: Pool, log: Log) {
    this.#pool = pool;
    const taken = { has: (name: string) => isGatewayName(name) || this.#suites.has(name) };
    for (const config of children) {
      const wanted = toToolName(config.suiteName ?? `${config.name}_suite`);
      const name = freeName(wanted, taken);
      if (name !== wanted) {
        log.warn(`the tool name ${wanted} is taken; server "${config.name}" is shown as ${name}.`);
      }
      const suite = { config, tool: createSuiteTool(name, config) };
      this.#suites.set(name, suite);
      this.#byChild.set(config.name, name);
      this.#byDefaultName.set(toToolName(`${config.name}_suite`), suite);
    }
  }

  has(toolName: string): boolean {
    return this.#find(toolName) !== undefined;
  }

  /** The name of the tool that stands for a child. */
  toolFor(childName: string): string {
    const name = this.#byChild.get(childName);
    if (name !== undefined) return name;
    throw new Error(`There is no suite for ${childName}.`);
  }

  /** The tools of those children that are to be listed so. */
  listTools(isListed: (config: ChildConfig) => boolean): Tool[] {
    const listed = [...this.#suites.values()].filter(({ config }) => isListed(config));
    return listed.map(({ tool }) => tool);
  }

  #find(toolName: string): Suite | undefined {
    return this.#suites.get(toolName) ?? this.#byDefaultName.get(toolName);
  }

  callTool(call: ToolCall): Promise<Verbatim> {
    const suite = this.#find(call.name);
    if (!suite) throw new Error(`There is no suite ${call.name}.`);
    const { config } = suite;
    const wanted = parseSuiteAction(call.name, call.args);
    switch (wanted.action) {
      case 'introspect': {
        const mode = wanted.verbosity ?? config.introspection.mode;
        return this.#introspect(config, call, wanted.subtool, { ...config.introspection, mode });
      }
      case 'call':
        return callSubtool(this.#pool, config, call, wanted.subtool, wanted.args);
    }
  }

  async #introspect(
    config: ChildConfig,
    { cancellation, caller, framing }: ToolCall,
    subtool: string | undefined,
    settings: Introspection,
  ): Promise<Verbatim> {
    const child = await this.#pool.use(config.name, cancellation, caller?.era);
    const tools = await child.listTools({ cancellation });
    this.#pool.remember(config, tools);
    const exposed = tools.filter(({ name }) => isExposed(name, config.expose));
    if (subtool === undefined) {
      const refused = child.refusedTools.length;
      return dataResult(describeSubtools(exposed, settings, refused), framing);
    }
    const wanted = exposed.filter(({ name }) => name === subtool);
    if (wanted.length === 0) throw unknownSubtool(child, config, subtool);
    return dataResult(describeSubtools(wanted, settings), framing);
  }
}
