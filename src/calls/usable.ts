// Which of a server's tools, prompts and resources hosts see: those that `expose` and the permissions don't rule out.
import type { ChildConfig, RuleTarget } from '../config/config.ts';
import { isExposed } from '../config/server/expose.ts';
import { hintsOf } from '../mcp/annotations.ts';
import type { Tool } from '../mcp/tools.ts';

type Ruled = Pick<ChildConfig, 'expose' | 'rules'>;

export function isUsable(tool: Tool, { expose, rules }: Ruled): boolean {
  if (!isExposed(tool.name, expose)) return false;
  return !rules || isListed({ kind: 'tool', name: tool.name, hints: hintsOf(tool) }, { rules });
}

/** Whether the permissions let hosts know about it. */
export function isListed(target: RuleTarget, { rules }: Pick<Ruled, 'rules'>): boolean {
  return rules?.decide(target)?.permission !== 'deny';
}
