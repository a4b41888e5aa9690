// Suites: one small tool for each child, with the actions `introspect` and `call`. The child is
// started when one of them is first used, never for the list.
import { SwitchboardError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { cleanText, nearest } from '../base/text.ts';
import type { Child } from '../child/child.ts';
import type { ChildConfig, Introspection } from '../config/config.ts';
import { dataResult, type Tool, toJsonResult, toToolResult } from '../mcp/tools.ts';
import type { Pool } from '../pool/pool.ts';
import { isObject, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { isExposed } from './expose.ts';
import { describeSubtools } from './introspect.ts';
import { freeName, toToolName } from './names.ts';
import type { Surface, ToolCall } from './surface.ts';

interface Suite {
  readonly config: ChildConfig;
  readonly tool: Tool;
}

const VERBOSITIES = ['summary', 'full', 'redacted'] as const;

const INPUT_SCHEMA = {
  type: 'object',
  properties: {
    action: { type: 'string', enum: ['introspect', 'call'] },
    subtool: { type: 'string' },
    args: { type: 'object' },
    verbosity: { type: 'string', enum: VERBOSITIES },
  },
  required: ['action'],
};

export class Suites implements Surface {
  readonly #pool: Pool;
  readonly #suites = new Map<string, Suite>();

  constructor(children: ReadonlyMap<string, ChildConfig>, pool: Pool, log: Log) {
    this.#pool = pool;
    for (const config of children.values()) {
      const wanted = toToolName(config.suiteName ?? `${config.name}_suite`);
      const name = freeName(wanted, this.#suites);
      if (name !== wanted) {
        log.warn(
          `two servers would share the tool name ${wanted}; "${config.name}" is shown as ${name}.`,
        );
      }
      const tool = { name, description: describeSuite(config), inputSchema: INPUT_SCHEMA };
      this.#suites.set(name, { config, tool });
    }
  }

  /** The name of the tool that stands for a child. */
  toolFor(childName: string): string {
    for (const [name, { config }] of this.#suites) if (config.name === childName) return name;
    throw unknownTool(`${childName}_suite`, this.#suites.keys());
  }

  listTools(): readonly Tool[] {
    return [...this.#suites.values()].map(({ tool }) => tool);
  }

  async callTool(call: ToolCall): Promise<Verbatim> {
    const suite = this.#suites.get(call.name);
    if (!suite) throw unknownTool(call.name, this.#suites.keys());
    const { action, subtool, verbosity } = call.args.value as Record<string, unknown>;
    if (action === 'introspect') return this.#introspect(suite, call, subtool, verbosity);
    if (action === 'call') return this.#call(suite, call, subtool);
    throw new SwitchboardError(
      'TOOL_ARGUMENTS',
      action === undefined
        ? `${call.name} needs an action.`
        : `${call.name} has no action ${JSON.stringify(action)?.slice(0, 80)}.`,
      {
        hint: `Valid actions: 'introspect' (list the subtools), 'call' (run one, with "subtool" and "args").`,
      },
    );
  }

  async #introspect(
    suite: Suite,
    call: ToolCall,
    subtool: unknown,
    verbosity: unknown,
  ): Promise<Verbatim> {
    const { config } = suite;
    const settings = { ...config.introspection, mode: readVerbosity(verbosity, config) };
    const child = await this.#pool.use(config.name, call.signal);
    const tools = (await child.listTools(call.signal)).filter(({ name }) =>
      isExposed(name, config.expose),
    );
    if (subtool === undefined || subtool === '')
      return dataResult(describeSubtools(tools, settings));
    const wanted = tools.filter(({ name }) => name === subtool);
    if (wanted.length === 0)
      throw unknownSubtool(
        config,
        subtool,
        tools.map(({ name }) => name),
      );
    return dataResult(describeSubtools(wanted, settings));
  }

  async #call({ config }: Suite, call: ToolCall, subtool: unknown): Promise<Verbatim> {
    if (typeof subtool !== 'string' || subtool === '') {
      throw new SwitchboardError(
        'TOOL_ARGUMENTS',
        `Missing required parameter: subtool (for ${call.name}).`,
        {
          hint: `List the subtools first: {"action": "introspect"}.`,
        },
      );
    }
    if (!isExposed(subtool, config.expose)) {
      throw new SwitchboardError(
        'TOOL_NOT_ALLOWED',
        `Subtool '${subtool}' not allowed by Switchboard (suite '${config.name}').`,
        {
          hint: `The configuration's expose.allow and expose.deny decide; {"action": "introspect"} shows what is allowed.`,
        },
      );
    }
    const args = readArgs(call.args, subtool);
    const child = await this.#pool.use(config.name, call.signal);
    const answer = await this.#forward(child, config, subtool, args, call);
    if (config.wrapResults === 'json') return toJsonResult(answer);
    const result = toToolResult(answer);
    if (!result) {
      throw new SwitchboardError(
        'CHILD_PROTOCOL',
        `Server "${config.name}" answered subtool "${subtool}" with something that is no tool result: ${answer.text.slice(0, 200)}`,
      );
    }
    return result;
  }

  /** Calls the child. If it refuses because there is no such subtool, the near ones are named. */
  async #forward(
    child: Child,
    config: ChildConfig,
    subtool: string,
    args: Verbatim,
    call: ToolCall,
  ): Promise<Verbatim> {
    const { meta, signal, onProgress } = call;
    try {
      const answer = await child.callTool(subtool, args, { meta, signal, onProgress });
      if (isObject(answer.value) && answer.value['isError'] === true) {
        await this.#throwIfUnknown(child, config, subtool, signal);
      }
      return answer;
    } catch (error) {
      if (error instanceof RpcError)
        await this.#throwIfUnknown(child, config, subtool, signal, error);
      throw error;
    }
  }

  async #throwIfUnknown(
    child: Child,
    config: ChildConfig,
    subtool: string,
    signal: AbortSignal,
    cause?: Error,
  ): Promise<void> {
    // Where the list cannot be had, the child's own words are all there is.
    const isKnown = await child.hasTool(subtool, signal).catch(() => true);
    if (isKnown || child.toolNames.length === 0) return;
    const exposed = child.toolNames.filter((name) => isExposed(name, config.expose));
    throw unknownSubtool(config, subtool, exposed, cause);
  }
}

/** What the host's model reads about a child: told by its files, or made from name and description. */
function describeSuite({
  name,
  description,
  switchboardDescription,
  suiteDescription,
}: ChildConfig): string {
  const told = switchboardDescription ?? suiteDescription;
  if (told !== undefined) return cleanText(told);
  const about =
    cleanText(description ?? '')
      .trim()
      .replace(/\.$/, '') || name;
  return `Use this tool for ${about}. Actions: 'introspect' | 'call'.`;
}

function readVerbosity(verbosity: unknown, { introspection }: ChildConfig): Introspection['mode'] {
  if (verbosity === undefined) return introspection.mode;
  const known = VERBOSITIES.find((mode) => mode === verbosity);
  if (known) return known;
  throw new SwitchboardError(
    'TOOL_ARGUMENTS',
    `There is no verbosity ${JSON.stringify(verbosity)}.`,
    {
      hint: `Valid ones: ${VERBOSITIES.join(', ')}.`,
    },
  );
}

/** The subtool's arguments as the host wrote them; some models write them as JSON in a string. */
function readArgs(suiteArgs: Verbatim, subtool: string): Verbatim {
  const args = suiteArgs.member('args');
  if (args === undefined || args.value === null) return Verbatim.of({});
  if (isObject(args.value)) return args;
  if (typeof args.value === 'string') {
    const parsed = parseObject(args.value);
    if (parsed) return parsed;
  }
  throw new SwitchboardError(
    'TOOL_ARGUMENTS',
    `"args" for subtool "${subtool}" must be an object.`,
    {
      hint: `Introspect with "subtool": "${subtool}" shows what it takes.`,
    },
  );
}

function parseObject(text: string): Verbatim | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? new Verbatim(text, value) : undefined;
  } catch {
    return undefined; // not JSON: the caller says what was expected
  }
}

function unknownTool(name: string, names: Iterable<string>): SwitchboardError {
  const near = nearest(name, names);
  const message = `Unknown tool: ${name}`;
  if (near.length === 0) return new SwitchboardError('TOOL_UNKNOWN', message);
  return new SwitchboardError('TOOL_UNKNOWN', message, {
    hint: `Did you mean ${near.join(' or ')}?`,
  });
}

function unknownSubtool(
  { name }: ChildConfig,
  subtool: string,
  names: readonly string[],
  cause?: Error,
): SwitchboardError {
  const near = nearest(subtool, names);
  const suggestion =
    near.length > 0 ? `Did you mean ${near.map((word) => `"${word}"`).join(' or ')}? ` : '';
  return new SwitchboardError('SUBTOOL_UNKNOWN', `Server "${name}" has no subtool "${subtool}".`, {
    hint: `${suggestion}{"action": "introspect"} lists what it has.`,
    cause,
  });
}
