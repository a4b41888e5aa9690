// Tool names that providers accept: at most 64 letters, digits, `_` and `-`. MCP allows more, so other names
// are replaced, and found again by their replacement.
import { shortDigest } from '../base/digest.ts';
import type { Tool } from '../mcp/tools.ts';

const LONGEST = 64;
const DIGEST = 9;

export function toProviderName(own: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(own)) return own;
  const safe = own.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, LONGEST - DIGEST);
  return `${safe}_${shortDigest(own)}`;
}

export type ToolsByName = ReadonlyMap<string, Tool>;

/** The tool the model means. Some models use its original name, which they read elsewhere. */
export function findTool(named: ToolsByName, name: string): Tool | undefined {
  return named.get(name) ?? [...named.values()].find((tool) => tool.name === name);
}

/** Tools by the names the model gets; of duplicates, the first. */
export function nameTools(tools: readonly Tool[]): Map<string, Tool> {
  const named = new Map<string, Tool>();
  for (const tool of tools) {
    const name = toProviderName(tool.name);
    if (!named.has(name)) named.set(name, tool);
  }
  return named;
}
