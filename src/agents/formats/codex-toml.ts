// Codex's own agents: TOML in which `developer_instructions` stand beside any key of Codex's configuration.
// Those that a run knows are taken; the others are Codex's to know, and none of them is a mistake.
import type { RunFields } from '../agent.ts';
import { type AgentFile, createWarnings, type Draft, NOTHING_SAID, summarize } from './draft.ts';
import { COMMAS_AND_SPACES, listOf, textOf } from './fields.ts';
import { requiredText } from './required.ts';
import { runFieldsOf } from './run-fields.ts';
import { serversOf } from './server-entry.ts';
import { isTable, readToml } from './toml.ts';

type Table = Readonly<Record<string, unknown>>;

export async function parseCodexToml(file: AgentFile): Promise<Draft> {
  const { table, lineOf } = await readToml(file.text);
  const name = requiredText(table, 'name', lineOf);
  const instructions = requiredText(table, 'developer_instructions', lineOf);
  const { list: warnings, add } = createWarnings();
  const warn = (path: readonly string[], says: string) =>
    add(() => `${lineOf(...path)}: ${path.join('.')}: ${says}`);
  const { servers, references } = serversOf(table['mcp_servers'], file, (key, says) =>
    warn(['mcp_servers', key], says),
  );
  return {
    ...NOTHING_SAID,
    ...summarize(name, textOf(table['description']), listOf(table['tags'], COMMAS_AND_SPACES)),
    instructions,
    run: { ...switchesOf(table), ...runFieldsOf(table, (key, says) => warn([key], says)) },
    references,
    servers,
    warnings,
  };
}

/** The engine's tools, where today's configuration has the switches for them. */
function switchesOf(table: Table): RunFields {
  const tools = within(table, 'tools');
  const webSearch = isSearching(table['web_search']) ?? isOn(tools['web_search']);
  const plan = isOn(within(tools, 'update_plan')['enabled']);
  const viewImage = isOn(within(table, 'features')['view_image']) ?? isOn(tools['view_image']);
  return {
    ...(webSearch !== undefined && { toolsWebSearchRequest: webSearch }),
    ...(plan !== undefined && { includePlanTool: plan }),
    ...(viewImage !== undefined && { includeViewImageTool: viewImage }),
  };
}

function within(table: Table, key: string): Table {
  const value = table[key];
  return isTable(value) ? value : {};
}

function isOn(value: unknown): boolean | undefined {
  if (isTable(value)) return true; // a table says how the tool is to work
  return typeof value === 'boolean' ? value : undefined;
}

function isSearching(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  return typeof value === 'string' ? value !== 'disabled' : undefined;
}
