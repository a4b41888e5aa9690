// Names of tools that models' providers accept: letters, digits, `_` and `-`, at most 64 of them. MCP
// allows more, so each name is given another where it must be, and found again by it.
import { shortDigest } from '../base/digest.ts';
import type { Tool } from '../mcp/tools.ts';

const LONGEST = 64;
const DIGEST = 9;

export function toProviderName(own: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(own)) return own;
  const safe = own.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, LONGEST - DIGEST);
  return `${safe}_${shortDigest(own)}`;
}

export type NamedTools = ReadonlyMap<string, Tool>;

/** The tool that the model means: some have read its own name elsewhere, and use that. */
export function findTool(named: NamedTools, name: string): Tool | undefined {
  return named.get(name) ?? [...named.values()].find((tool) => tool.name === name);
}

/** The tools by the names that the model knows them under; of two with one name the first. */
export function nameTools(tools: readonly Tool[]): Map<string, Tool> {
  const named = new Map<string, Tool>();
  for (const tool of tools) {
    const name = toProviderName(tool.name);
    if (!named.has(name)) named.set(name, tool);
  }
  return named;
}
