// The server's own tools, listed while a session has switched it on with the gateway's tools.
import { isObject } from '../../base/object.ts';
import type { Tool } from '../../mcp/tools.ts';
import { isGatewayName } from '../gateway.ts';
import { alwaysLoaded } from '../suite-tool.ts';
import { Switches } from '../switches.ts';
import type { ShowMode } from './mode.ts';

export const flip: ShowMode = {
  name: 'flip',
  ownTools: 'switched',
  usesSuite: true,
  needsTools: false,
  access: 'activate it first',
  condition: 'while activated with gateway_activate',
  reserves: isGatewayName,
  present: withAlwaysLoad,
  open: (parts) => new Switches(parts),
};

/** Otherwise Claude Code hides tools that appear later until the model searches for them. */
function withAlwaysLoad(tool: Tool): Tool {
  const { _meta: own } = tool;
  return { ...tool, _meta: { ...alwaysLoaded(), ...(isObject(own) && own) } };
}
