// References to tools of servers, in the ways in which programs write them.
import type { Dialect, ToolReference } from './agent.ts';

/** VS Code's and Copilot's way is `server/tool`; elsewhere a slash may be part of a tool's name. */
const WITH_SLASH = new Set<Dialect>(['chatmode', 'copilot']);

/**
 * `server::tool` and `mcp__server__tool`, and in some formats `server/tool`; with `*` or the server's own
 * name as tool, all of the server's; `server/*` is that in every format. Anything else is the name of a
 * tool on whichever server has it.
 */
export function parseReference(text: string, dialect: Dialect): ToolReference {
  const [server = '', tool = ''] = partsOf(text, dialect);
  if (server === '') return { server: undefined, tool: tool || text, text };
  const isWhole = tool === '' || tool === '*' || tool === server;
  return { server, tool: isWhole ? undefined : tool, text };
}

function partsOf(text: string, dialect: Dialect): readonly string[] {
  const colons = text.indexOf('::');
  if (colons !== -1) return partAt(text, colons, 2);
  if (text.startsWith('mcp__') && text.length > 5) {
    const rest = text.slice(5);
    const underscores = rest.indexOf('__', 1); // a name may begin with one
    return underscores === -1 ? [rest] : partAt(rest, underscores, 2);
  }
  const hasSlash = WITH_SLASH.has(dialect) || /.\/\*$/.test(text);
  // The last one: servers of a registry have a slash in their own names.
  const slash = hasSlash ? text.lastIndexOf('/') : -1;
  return slash === -1 ? ['', text] : partAt(text, slash, 1);
}

function partAt(text: string, at: number, length: number): string[] {
  return [text.slice(0, at).trim(), text.slice(at + length).trim()];
}

/** Whether what the first refers to is all that the second does, or part of it. */
export function isWithin(reference: ToolReference, other: ToolReference): boolean {
  if (reference.server !== other.server) return false;
  return other.server !== undefined && other.tool === undefined
    ? true
    : reference.tool === other.tool;
}
