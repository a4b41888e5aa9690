// The three tools with which children are switched on and off, as the host sees them: their names,
// descriptions and input, and the reading of that input.
import { SwitchboardError } from '../base/errors.ts';
import { onOneLine } from '../base/text.ts';
import { READ_ONLY } from '../mcp/annotations.ts';
import type { Tool } from '../mcp/tools.ts';
import { alwaysLoaded } from './suite-tool.ts';
import type { ToolCall } from './surface.ts';

type GatewayAction = 'activate' | 'deactivate' | 'status';

/** The second prefix is that of an older program of this kind, for prompts written for it. */
const NAME = /^(?:gateway|mcpflip)_(activate|deactivate|status)$/;

/** What a name asks of the gateway; undefined for the name of another tool. */
export function gatewayAction(toolName: string): GatewayAction | undefined {
  return NAME.exec(toolName)?.[1] as GatewayAction | undefined;
}

/**
 * Whether a name is kept for the gateway: no tool of a child is listed by it. Only whole names are:
 * with all that begin alike a server called "gateway" would find no free name for its tools.
 */
export function isGatewayName(toolName: string): boolean {
  return gatewayAction(toolName) !== undefined;
}

/**
 * The tools, for children with these names. They say nothing that changes while we run. In a session whose
 * list must not change they lead the model to the suites, which are all it needs.
 */
export function createGatewayTools(childNames: readonly string[], isStatic = false): Tool[] {
  const names = childNames.map((name) => `"${onOneLine(name)}"`).join(', ');
  const inputSchema = {
    type: 'object',
    properties: { name: { type: 'string', description: 'The exact name of the server.' } },
    required: ['name'],
  };
  const _meta = alwaysLoaded();
  const idempotent = { idempotentHint: true, openWorldHint: false };
  const annotations = { readOnlyHint: false, destructiveHint: false, ...idempotent };
  return [
    {
      name: 'gateway_activate',
      description: isStatic
        ? `Names a server's tools and the suite to call them through. Servers: ${names}.`
        : `Switches a server on: its tools are added to the list of tools. Servers: ${names}. Switch one on when the task needs it, unless the user has said not to.`,
      inputSchema,
      annotations,
      _meta,
    },
    {
      name: 'gateway_deactivate',
      description: isStatic
        ? 'Has no effect in this session: no server is ever switched on.'
        : 'Switches a server off: its tools leave the list. It stays warm and can be switched on again at once.',
      inputSchema,
      annotations,
      _meta,
    },
    {
      name: 'gateway_status',
      description: 'Lists the servers that can be switched on, with the state of each.',
      inputSchema: { type: 'object', properties: {} },
      annotations: { ...READ_ONLY, ...idempotent },
      _meta,
    },
  ];
}

/** The name of the server that a call is about. */
export function parseServerName({ name: toolName, args }: ToolCall): string {
  const { name } = args.value as Record<string, unknown>;
  if (typeof name === 'string' && name !== '') return name;
  throw new SwitchboardError('TOOL_ARGUMENTS', `${toolName} needs the name of a server.`, {
    hint: 'Give it as {"name": "..."}; gateway_status lists the names.',
  });
}
