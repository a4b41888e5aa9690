// Sorts the tools an agent file names: the engine's own become switches, the shell's need nothing, and
// the rest are server tools.
import type { AgentSettings } from '../config/config.ts';
import {
  type AgentServer,
  BUILTIN_TOOLS,
  type Builtins,
  type BuiltinTool,
  type Dialect,
  type ToolReference,
} from './agent.ts';
import type { Draft } from './formats/draft.ts';
import { type ToolTable, toolTableOf } from './tool-tables.ts';

export interface MappedTools {
  readonly builtins: Builtins;
  readonly references: readonly ToolReference[];
  readonly servers: ReadonlyMap<string, AgentServer>;
  /** Without file and line. */
  readonly warnings: readonly string[];
}

type MapSettings = Pick<AgentSettings, 'toolmapEnable' | 'toolmapAllowCustomServers'>;

const NO_TABLE: ToolTable = {
  isCaseSensitive: true,
  meanings: new Map(),
  sets: [],
  everything: [],
};

/** For the `memory` tool of chat modes, which needs a server. */
const MEMORY: AgentServer = {
  key: 'memory',
  origin: 'Switchboard itself, for the tool "memory"',
  cmd: 'npx',
  args: ['-y', '@modelcontextprotocol/server-memory'],
  env: {},
  cwd: undefined,
  url: undefined,
  headers: {},
  isInjected: true,
};

export function mapTools(draft: Draft, dialect: Dialect, settings: MapSettings): MappedTools {
  // In Switchboard's own format these names aren't another program's, so they always apply.
  const isMapping = settings.toolmapEnable || dialect === 'switchboard-toml';
  const table = isMapping ? toolTableOf(dialect) : NO_TABLE;
  const denied = sortTools(draft.deniedTools, table);
  const wanted = sortTools(
    draft.tools.filter((tool) => !draft.deniedTools.includes(tool)),
    table,
  );
  const servers = new Map(draft.servers);
  const references = [...draft.references];
  for (const tool of wanted.memory) {
    if (settings.toolmapAllowCustomServers) {
      if (!servers.has(MEMORY.key)) servers.set(MEMORY.key, MEMORY);
      references.push({ server: MEMORY.key, tool: undefined, text: tool });
    } else references.push(parseReference(tool, dialect));
  }
  references.push(...wanted.unknown.map((tool) => referenceTo(tool, dialect, draft.servers)));
  const forbidden = denied.unknown.map((tool) => parseReference(tool, dialect));
  for (const { server, tool } of forbidden) {
    if (server !== undefined && tool === undefined) servers.delete(server);
  }
  const tools = unique(references).filter(
    (reference) => !forbidden.some((other) => isWithin(reference, other)),
  );
  const isAttached = ({ server }: ToolReference) =>
    server !== undefined && (servers.has(server) || tools.some((one) => one.server === server));
  return {
    builtins: builtinsOf(wanted, denied, table),
    references: tools,
    servers,
    warnings: [
      ...denied.shell.map(cannotDenyShell),
      ...forbidden.filter(isAttached).map(({ text }) => cannotDenyTool(text)),
    ],
  };
}

interface SortedTools {
  readonly builtins: ReadonlySet<BuiltinTool>;
  readonly shell: readonly string[];
  readonly memory: readonly string[];
  /** Not in the table, so presumably server tools. */
  readonly unknown: readonly string[];
  readonly isAll: boolean;
}

function sortTools(tools: readonly string[], table: ToolTable): SortedTools {
  const rows = tools.map((tool) => ({ tool, meaning: meaningOf(tool, table) }));
  const meant = (wanted: string | undefined) =>
    rows.flatMap(({ tool, meaning }) => (meaning === wanted && tool !== '*' ? [tool] : []));
  return {
    builtins: new Set(rows.flatMap(({ meaning }) => (isBuiltin(meaning) ? [meaning] : []))),
    shell: meant('shell'),
    memory: meant('memory'),
    unknown: meant(undefined),
    isAll: tools.includes('*'),
  };
}

function meaningOf(tool: string, { isCaseSensitive, meanings, sets }: ToolTable) {
  const name = isCaseSensitive ? tool : tool.toLowerCase();
  const set = name.slice(0, Math.max(0, name.indexOf('/')));
  return meanings.get(name) ?? (sets.includes(set) ? meanings.get(set) : undefined);
}

function isBuiltin(meaning: string | undefined): meaning is BuiltinTool {
  return BUILTIN_TOOLS.some((tool) => tool === meaning);
}

/** A named tool takes precedence over a denied one, which takes precedence over `*`. */
function builtinsOf(wanted: SortedTools, denied: SortedTools, table: ToolTable): Builtins {
  const isOn: { [tool in BuiltinTool]?: boolean } = {};
  if (wanted.isAll) for (const tool of table.everything) isOn[tool] = true;
  for (const tool of denied.builtins) isOn[tool] = false;
  for (const tool of wanted.builtins) isOn[tool] = true;
  return isOn;
}

/** The name of a server the agent brings along means all of its tools. */
function referenceTo(
  text: string,
  dialect: Dialect,
  servers: ReadonlyMap<string, AgentServer>,
): ToolReference {
  return servers.has(text)
    ? { server: text, tool: undefined, text }
    : parseReference(text, dialect);
}

function unique(references: readonly ToolReference[]): ToolReference[] {
  const seen = new Map(references.map((one) => [JSON.stringify([one.server, one.tool]), one]));
  return [...seen.values()];
}

function cannotDenyShell(tool: string): string {
  return `disallowedTools: "${tool}" has no effect, because the engine always has a shell. Restrict it with a sandbox.`;
}

function cannotDenyTool(text: string): string {
  return `disallowedTools: "${text}" has no effect, because the server is attached with all of its tools.`;
}

/** VS Code and Copilot write `server/tool`; elsewhere a slash may be part of a tool's name. */
const WITH_SLASH = new Set<Dialect>(['chatmode', 'copilot']);

/**
 * Reads `server::tool`, `mcp__server__tool` and, in some formats, `server/tool`. `*` or the server's own
 * name as the tool means all of its tools, and `server/*` works in every format. Anything else names a
 * tool on any server that has it.
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
    const underscores = rest.indexOf('__', 1); // a name may start with one
    return underscores === -1 ? [rest] : partAt(rest, underscores, 2);
  }
  const hasSlash = WITH_SLASH.has(dialect) || /.\/\*$/.test(text);
  // The last one: registry servers have a slash in their own names.
  const slash = hasSlash ? text.lastIndexOf('/') : -1;
  return slash === -1 ? ['', text] : partAt(text, slash, 1);
}

function partAt(text: string, at: number, length: number): string[] {
  return [text.slice(0, at).trim(), text.slice(at + length).trim()];
}

/** Whether the first reference is covered by the second. */
function isWithin(reference: ToolReference, other: ToolReference): boolean {
  if (reference.server !== other.server) return false;
  return other.server !== undefined && other.tool === undefined
    ? true
    : reference.tool === other.tool;
}
