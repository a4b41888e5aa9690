// Suites: one small tool for each child, with the actions `introspect` and `call`. The child is
// started when one of them is first used, never for the list.
import type { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { nearest } from '../base/text.ts';
import type { Child } from '../child/child.ts';
import type { ChildConfig, Introspection } from '../config/config.ts';
import { dataResult, type Tool, toJsonResult, toToolResult } from '../mcp/tools.ts';
import type { Pool } from '../pool/pool.ts';
import { isObject, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { isExposed } from './expose.ts';
import { describeSubtools } from './introspect.ts';
import { freeName, toToolName } from './names.ts';
import { createSuiteTool, parseSuiteAction } from './suite-tool.ts';
import type { Surface, ToolCall } from './surface.ts';

interface Suite {
  readonly config: ChildConfig;
  readonly tool: Tool;
}

export class Suites implements Surface {
  readonly #pool: Pool;
  readonly #suites = new Map<string, Suite>();
  /** A suite that was renamed can still be called by the name it would have had. */
  readonly #byDefaultName = new Map<string, Suite>();

  constructor(children: ReadonlyMap<string, ChildConfig>, pool: Pool, log: Log) {
    this.#pool = pool;
    for (const config of children.values()) {
      const wanted = toToolName(config.suiteName ?? `${config.name}_suite`);
      const name = freeName(wanted, this.#suites);
      if (name !== wanted) {
        log.warn(`the tool name ${wanted} is taken; server "${config.name}" is shown as ${name}.`);
      }
      const suite = { config, tool: createSuiteTool(name, config) };
      this.#suites.set(name, suite);
      this.#byDefaultName.set(toToolName(`${config.name}_suite`), suite);
    }
  }

  /** The name of the tool that stands for a child. */
  toolFor(childName: string): string {
    for (const [name, { config }] of this.#suites) if (config.name === childName) return name;
    throw unknownTool(childName, this.#suites.keys());
  }

  listTools(): readonly Tool[] {
    return [...this.#suites.values()].map(({ tool }) => tool);
  }

  async callTool(call: ToolCall): Promise<Verbatim> {
    const suite = this.#suites.get(call.name) ?? this.#byDefaultName.get(call.name);
    if (!suite) throw unknownTool(call.name, this.#suites.keys());
    const { config } = suite;
    const wanted = parseSuiteAction(call.name, call.args);
    switch (wanted.action) {
      case 'introspect': {
        const mode = wanted.verbosity ?? config.introspection.mode;
        return this.#introspect(config, call, wanted.subtool, { ...config.introspection, mode });
      }
      case 'call':
        return this.#call(config, call, wanted.subtool, wanted.args);
    }
  }

  async #introspect(
    config: ChildConfig,
    { cancellation }: ToolCall,
    subtool: string | undefined,
    settings: Introspection,
  ): Promise<Verbatim> {
    const child = await this.#pool.use(config.name, cancellation);
    const tools = await child.listTools(cancellation);
    const exposed = tools.filter(({ name }) => isExposed(name, config.expose));
    if (subtool === undefined) return dataResult(describeSubtools(exposed, settings));
    const wanted = exposed.filter(({ name }) => name === subtool);
    if (wanted.length === 0) throw unknownSubtool(child, config, subtool);
    return dataResult(describeSubtools(wanted, settings));
  }

  async #call(
    config: ChildConfig,
    { meta, cancellation, onProgress }: ToolCall,
    subtool: string,
    args: Verbatim,
  ): Promise<Verbatim> {
    if (!isExposed(subtool, config.expose)) throw notAllowed(config, subtool);
    const child = await this.#pool.use(config.name, cancellation);
    try {
      const answer = await child.callTool(subtool, args, { meta, cancellation, onProgress });
      const isError = isObject(answer.value) && answer.value['isError'] === true;
      const result = toResult(child, answer, config, subtool);
      return isError ? await withSuggestion(result, child, config, subtool, cancellation) : result;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const unknown = await findUnknown(child, config, subtool, cancellation);
      // For the model it is a failed call like any other, and it should read both our words.
      if (unknown)
        throw new SwitchboardError(unknown.code, `${unknown.text} It answered: ${error.message}.`);
      throw error;
    }
  }
}

/** A child's own failure result, with a word of ours behind it if it has no such subtool. */
async function withSuggestion(
  result: Verbatim,
  child: Child,
  config: ChildConfig,
  subtool: string,
  cancellation: Cancellation,
): Promise<Verbatim> {
  const text = (await findUnknown(child, config, subtool, cancellation))?.text;
  const content = result.member('content');
  if (text === undefined || content === undefined) return result;
  return result.with('content', content.append(Verbatim.of({ type: 'text', text })));
}

/** The error to name, where a child that has refused a call lists no such subtool. */
async function findUnknown(
  child: Child,
  config: ChildConfig,
  subtool: string,
  cancellation: Cancellation,
): Promise<SwitchboardError | undefined> {
  // Where the list cannot be had, the child's own words are all there is.
  const isKnown = await child.hasTool(subtool, cancellation).catch(() => true);
  return isKnown || child.toolNames.length === 0
    ? undefined
    : unknownSubtool(child, config, subtool);
}

function toResult(
  child: Child,
  answer: Verbatim,
  { name, wrapResults }: ChildConfig,
  subtool: string,
): Verbatim {
  const result = wrapResults === 'json' ? toJsonResult(answer) : toToolResult(answer);
  if (result) return result;
  throw new SwitchboardError(
    'CHILD_PROTOCOL',
    `Server "${name}" answered subtool "${subtool}" with something that is no tool result: ${child.excerptOf(answer)}`,
  );
}

function unknownTool(name: string, names: Iterable<string>): SwitchboardError {
  // Nearly all names end alike, so that alone makes no two of them near.
  const byStem = new Map([...names].map((known) => [stemOf(known), known]));
  const near = nearest(stemOf(name), byStem.keys()).map((stem) => byStem.get(stem) ?? stem);
  return new SwitchboardError('TOOL_UNKNOWN', `Unknown tool: ${name}.`, {
    hint: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : undefined,
  });
}

function stemOf(toolName: string): string {
  return toolName.replace(/_suite$/, '');
}

function unknownSubtool(
  child: Child,
  { name, expose }: ChildConfig,
  subtool: string,
): SwitchboardError {
  const names = child.toolNames.filter((toolName) => isExposed(toolName, expose));
  const near = nearest(subtool, names).map((word) => `"${word}"`);
  const suggestion = near.length > 0 ? `Did you mean ${near.join(' or ')}? ` : '';
  return new SwitchboardError('SUBTOOL_UNKNOWN', `Server "${name}" has no subtool "${subtool}".`, {
    hint: `${suggestion}The action "introspect" (in a terminal: switchboard tools ${name}) lists what it has.`,
  });
}

function notAllowed({ name }: ChildConfig, subtool: string): SwitchboardError {
  return new SwitchboardError(
    'TOOL_NOT_ALLOWED',
    `Subtool '${subtool}' not allowed by Switchboard (suite '${name}').`,
    {
      hint: 'expose.allow and expose.deny in the configuration decide; the action "introspect" lists what is allowed.',
    },
  );
}
