// What a host's model is told about us once, at the beginning of a session.
import type { ChildConfig } from '../config/config.ts';

const SUITES =
  'Each tool that takes an "action" stands for a whole MCP server. Call it with {"action": "introspect"} ' +
  "to see the server's subtools and what they take, then with " +
  '{"action": "call", "subtool": "<name>", "args": {…}} to run one.';

const FLIP =
  'More servers can be switched on: gateway_status lists them, gateway_activate adds the tools of one ' +
  'to your list, gateway_deactivate removes them. Without being switched on they can be called through ' +
  'their suite, <server>_suite.';

export function instructionsFor(children: readonly ChildConfig[]): string {
  const ways = new Set(children.map(({ show }) => show));
  const parts = [ways.has('suite') || ways.has('flip') ? SUITES : '', ways.has('flip') ? FLIP : ''];
  return parts.filter(Boolean).join(' ');
}
