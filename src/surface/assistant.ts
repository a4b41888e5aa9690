// One server as one tool that takes plain language. The model behind it has the same access as a host: `expose`
// applies, and the server can ask the host's user.
import type { Assistant } from '../assistant/assistant.ts';
import type { OpenToolbox } from '../assistant/toolbox.ts';
import { SwitchboardError } from '../base/errors.ts';
import { cleanText, onOneLine } from '../base/text.ts';
import type { CallContext } from '../calls/call.ts';
import type { Calls } from '../calls/calls.ts';
import { notAllowed } from '../calls/expose.ts';
import { denialOf } from '../calls/permissions.ts';
import { unknownSubtool } from '../calls/tool-call.ts';
import { isUsable } from '../calls/usable.ts';
import type { ChildConfig } from '../config/config.ts';
import { isExposed } from '../config/server/expose.ts';
import type { LogLevel } from '../mcp/logging.ts';
import type { Tool } from '../mcp/tools.ts';
import type { Pool } from '../pool/pool.ts';
import { METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import { OTHER_NAME, TOOL_NAME } from './assistant-names.ts';
import { alwaysLoaded, writtenDescription } from './suite-tool.ts';
import type { Surface } from './surface.ts';
import { unknownTool } from './unknown-tool.ts';

const INPUT_SCHEMA = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'What you want, in plain language.' },
    context: { type: 'string', description: 'Background that helps to understand the query.' },
  },
  required: ['query'],
};

export class AssistantSurface implements Surface {
  readonly instructions: string;
  readonly active: readonly string[] = [];
  readonly #config: ChildConfig;
  readonly #pool: Pool;
  readonly #assistant: Assistant;

  constructor(config: ChildConfig, pool: Pool, assistant: Assistant) {
    this.#config = config;
    this.#pool = pool;
    this.#assistant = assistant;
    this.instructions = `Tell the tool "${TOOL_NAME}" what you want from ${aboutOf(config)}, in plain language. It does the work and returns the answer.`;
  }

  listTools(): readonly Tool[] {
    return [
      {
        name: TOOL_NAME,
        description: `${describe(this.#config)}: describe what you want in plain language.`,
        inputSchema: INPUT_SCHEMA,
        _meta: alwaysLoaded(this.#config.keywords),
      },
    ];
  }

  listPrompts(): readonly unknown[] {
    return [];
  }

  listResources(): readonly unknown[] {
    return [];
  }

  listTemplates(): readonly unknown[] {
    return [];
  }

  async callTool(name: string, args: Verbatim, context: CallContext): Promise<Verbatim> {
    if (name !== TOOL_NAME && name !== OTHER_NAME) throw unknownTool(name, [TOOL_NAME]);
    const { caller, cancellation, onProgress, task } = context;
    if (task) throw new RpcError(METHOD_NOT_FOUND, `"${TOOL_NAME}" cannot run as a task.`);
    const asked = readQuery(args.value as Record<string, unknown>);
    return this.#assistant.answer({ ...asked, caller, cancellation, onProgress });
  }

  async ask(method: string): Promise<Verbatim> {
    throw new RpcError(METHOD_NOT_FOUND, `An assistant only has tools; it has no ${method}.`);
  }

  async watch(): Promise<void> {
    // it has no resources
  }

  setLogLevel(level: LogLevel): void {
    this.#pool.setLogLevel(level);
  }

  close(): void {
    // the pool isn't ours to close
  }
}

/** Opens a server's exposed tools for an assistant. */
export function toolboxFor(pool: Pool, calls: Calls, server: ChildConfig): OpenToolbox {
  return async (context) => {
    const tools = await calls.listTools(server, context);
    const child = await pool.use(server.name, context.cancellation, context.caller?.era);
    const names = tools.map(({ name }) => name);
    return {
      tools: tools.filter((tool) => isUsable(tool, server, pool)),
      instructions: child.instructions,
      call: (target, params, onProgress) =>
        calls.send({
          server,
          method: 'tools/call',
          target,
          params,
          context: { ...context, onProgress },
          through: 'tool',
        }),
      refusal: (target) =>
        isExposed(target, server.expose)
          ? (denialOf(server, target, calls.audit) ?? unknownSubtool(server, target, names, 'tool'))
          : notAllowed({ server, target, through: 'tool' }, calls.audit),
    };
  };
}

/** The configured description of the tool, or the server's purpose. */
function describe(config: ChildConfig): string {
  const written = sentenceOf(writtenDescription(config));
  return written || `Use this tool for ${aboutOf(config)}`;
}

function aboutOf({ name, description, derivedDescription }: ChildConfig): string {
  const said = sentenceOf(description) || sentenceOf(derivedDescription);
  return said || `the server "${onOneLine(name)}"`;
}

/** The text without its full stop, so that it can be continued. */
function sentenceOf(text = ''): string {
  return cleanText(text).trim().replace(/\.$/, '');
}

function readQuery({ query, context }: Record<string, unknown>): {
  readonly text: string;
  readonly context: string | undefined;
} {
  if (typeof query !== 'string' || query.trim() === '') {
    throw new SwitchboardError(
      'TOOL_ARGUMENTS',
      `Missing required parameter: query (for ${TOOL_NAME}).`,
      { hint: 'Describe what you want in plain language: {"query": "..."}.' },
    );
  }
  if (context === undefined || context === null) return { text: query, context: undefined };
  // Some models pass objects.
  return { text: query, context: typeof context === 'string' ? context : JSON.stringify(context) };
}
