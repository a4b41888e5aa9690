// What `switchboard doctor` says about a server that works, once its tools are known.
import type { Child } from '../child/child.ts';
import { explainRefusedTools } from '../mcp/clean-lists.ts';

export function adviceOnTools({ refusedTools }: Pick<Child, 'refusedTools'>): string[] {
  const refusal = explainRefusedTools(refusedTools);
  return refusal === undefined ? [] : [`${refusal}.`];
}
