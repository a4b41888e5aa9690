// From the tools that a file names to what the engine can be told: its own tools become switches, what its
// terminal does goes without saying, and the rest are tools of servers.
import type { AgentSettings } from '../config/config.ts';
import type { AgentServer, Dialect, RunFields, ToolReference } from './agent.ts';
import type { Draft } from './formats/draft.ts';
import { isWithin, parseReference } from './tool-reference.ts';
import { SWITCHES, type Switch, TOOL_TABLES, type ToolTable } from './tool-tables.ts';

export interface MappedTools {
  /** The switches alone. */
  readonly run: RunFields;
  readonly tools: readonly ToolReference[];
  readonly servers: ReadonlyMap<string, AgentServer>;
  /** Sentences without file and line. */
  readonly warnings: readonly string[];
}

type MapSettings = Pick<AgentSettings, 'toolmapEnable' | 'toolmapAllowCustomServers'>;

const NO_TABLE: ToolTable = {
  isCaseSensitive: true,
  meanings: new Map(),
  sets: [],
  everything: [],
};

/** What a tool of a chat mode that needs a server is given. */
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
  // Switchboard's own format has these names for its switches, whatever is thought of other programs' names.
  const isMapping = settings.toolmapEnable || dialect === 'switchboard-toml';
  const table = isMapping ? TOOL_TABLES[dialect] : NO_TABLE;
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
    run: switchesOf(wanted, denied, table),
    tools,
    servers,
    warnings: [
      ...denied.terminal.map(cannotTakeAway),
      ...forbidden.filter(isAttached).map(({ text }) => cannotDeny(text)),
    ],
  };
}

interface SortedTools {
  readonly switches: ReadonlySet<Switch>;
  readonly terminal: readonly string[];
  readonly memory: readonly string[];
  /** Tools of servers, as far as the table knows. */
  readonly unknown: readonly string[];
  readonly isAll: boolean;
}

function sortTools(tools: readonly string[], table: ToolTable): SortedTools {
  const rows = tools.map((tool) => ({ tool, meaning: meaningOf(tool, table) }));
  const meant = (wanted: string | undefined) =>
    rows.flatMap(({ tool, meaning }) => (meaning === wanted && tool !== '*' ? [tool] : []));
  return {
    switches: new Set(rows.flatMap(({ meaning }) => (isSwitch(meaning) ? [meaning] : []))),
    terminal: meant('terminal'),
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

function isSwitch(meaning: string | undefined): meaning is Switch {
  return meaning !== undefined && Object.hasOwn(SWITCHES, meaning);
}

/** What is named counts more than what is denied in other words, and that more than `*`. */
function switchesOf(wanted: SortedTools, denied: SortedTools, table: ToolTable): RunFields {
  const isOn = new Map<Switch, boolean>();
  if (wanted.isAll) for (const one of table.everything) isOn.set(one, true);
  for (const one of denied.switches) isOn.set(one, false);
  for (const one of wanted.switches) isOn.set(one, true);
  return Object.fromEntries([...isOn].map(([one, value]) => [SWITCHES[one], value]));
}

/** The name of a server that the agent brings along stands for all of its tools. */
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

function cannotTakeAway(tool: string): string {
  return `disallowedTools: "${tool}" stays possible, since the engine always has a terminal. Restrict it with a sandbox.`;
}

function cannotDeny(text: string): string {
  return `disallowedTools: "${text}" stays possible, since a server is attached with all of its tools.`;
}
