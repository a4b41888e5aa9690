// Which of a server's tools, prompts and resources hosts see: those that `expose` and the permissions don't rule out.
import type { ChildConfig } from '../config/config.ts';
import type { RuleTarget } from '../config/permission-rules.ts';
import { isExposed } from '../config/server/expose.ts';
import type { Tool } from '../mcp/tools.ts';
import type { Pool } from '../pool/pool.ts';

type Ruled = Pick<ChildConfig, 'name' | 'expose' | 'rules'>;

export function isUsable(
  tool: Tool,
  { name, expose, rules }: Ruled,
  pool: Pick<Pool, 'hintsInForce'>,
): boolean {
  if (!isExposed(tool.name, expose)) return false;
  if (!rules) return true;
  const hints = pool.hintsInForce(name, tool);
  return isListed({ kind: 'tool', name: tool.name, hints }, { rules });
}

/** Those of the tools a server last listed. */
export function usableTools(
  config: ChildConfig,
  pool: Pick<Pool, 'tools' | 'hintsInForce'>,
): Tool[] {
  return (pool.tools(config.name) ?? []).filter((tool) => isUsable(tool, config, pool));
}

/** Whether the permissions let hosts know about it. */
export function isListed(target: RuleTarget, { rules }: Pick<Ruled, 'rules'>): boolean {
  return rules?.decide(target)?.permission !== 'deny';
}
