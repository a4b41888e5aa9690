// The gateway's three tools, which switch servers on and off: their names, descriptions and input, and
// how that input is read.
import { SwitchboardError } from '../base/errors.ts';
import { onOneLine } from '../base/text.ts';
import { READ_ONLY } from '../mcp/annotations.ts';
import type { Tool } from '../mcp/tools.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import { alwaysLoaded } from './suite-tool.ts';

type GatewayAction = 'activate' | 'deactivate' | 'status';

/** The second prefix supports prompts written for an older program of this kind. */
const NAME = /^(?:gateway|mcpflip)_(activate|deactivate|status)$/;

/** The action behind a tool name; undefined for other tools. */
export function gatewayAction(toolName: string): GatewayAction | undefined {
  return NAME.exec(toolName)?.[1] as GatewayAction | undefined;
}

/**
 * Whether a name is reserved for the gateway. Only whole names are: reserving the prefix would leave a
 * server called "gateway" without names for its tools.
 */
export function isGatewayName(toolName: string): boolean {
  return gatewayAction(toolName) !== undefined;
}

/**
 * The descriptions contain nothing that changes at run time. In a session whose list must not change, the
 * tools lead the model to the suites instead.
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
        ? `Lists a server's tools and names the suite to call them through. Servers: ${names}.`
        : `Activates a server, which adds its tools to your list of tools. Servers: ${names}. Activate a server when the task needs it, unless the user has told you not to.`,
      inputSchema,
      annotations,
      _meta,
    },
    {
      name: 'gateway_deactivate',
      description: isStatic
        ? 'Has no effect in this session: servers are never activated.'
        : 'Deactivates a server: removes its tools from the list. It stays warm, so activating it again is fast.',
      inputSchema,
      annotations,
      _meta,
    },
    {
      name: 'gateway_status',
      description: 'Lists the servers that can be activated, with the current state of each.',
      inputSchema: { type: 'object', properties: {} },
      annotations: { ...READ_ONLY, ...idempotent },
      _meta,
    },
  ];
}

/** The server named in a call's arguments. */
export function parseServerName(toolName: string, args: Verbatim): string {
  const { name } = args.value as Record<string, unknown>;
  if (typeof name === 'string' && name !== '') return name;
  throw new SwitchboardError('TOOL_ARGUMENTS', `${toolName} needs a server name.`, {
    hint: 'Pass {"name": "..."}. gateway_status lists the names.',
  });
}
