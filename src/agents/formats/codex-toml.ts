// Codex's own agents: TOML with `developer_instructions` next to any key of Codex's configuration. Run fields are
// read; all other keys are left to Codex and aren't reported as mistakes.
import type { Builtins } from '../agent.ts';
import { type AgentFile, createWarnings, type Draft, EMPTY_DRAFT, summarize } from './draft.ts';
import { COMMAS_AND_SPACES, listOf, requiredText, textOf } from './fields.ts';
import { runFieldsOf, withBuiltins } from './run-fields.ts';
import { serversOf } from './server-entry.ts';
import { isTable, readToml } from './toml.ts';

type Table = Readonly<Record<string, unknown>>;

export async function parseCodexToml(file: AgentFile): Promise<Draft> {
  const { table, lineOf } = await readToml(file.text);
  const name = requiredText(table, 'name', lineOf);
  const instructions = requiredText(table, 'developer_instructions', lineOf);
  const { list: warnings, add } = createWarnings();
  const warn = (path: readonly string[], problem: string) =>
    add(() => `${lineOf(...path)}: ${path.join('.')}: ${problem}`);
  const { servers, references } = serversOf(table['mcp_servers'], file, (key, problem) =>
    warn(['mcp_servers', key], problem),
  );
  const run = runFieldsOf(table, (key, problem) => warn([key], problem));
  return {
    ...EMPTY_DRAFT,
    ...summarize(name, textOf(table['description']), listOf(table['tags'], COMMAS_AND_SPACES)),
    instructions,
    run: withBuiltins(run, builtinsOf(table)),
    references,
    servers,
    warnings,
  };
}

/** Built-in tools, under the keys of Codex's current configuration. */
function builtinsOf(table: Table): Builtins {
  const tools = within(table, 'tools');
  const webSearch = isSearching(table['web_search']) ?? isOn(tools['web_search']);
  const plan = isOn(within(tools, 'update_plan')['enabled']);
  const viewImage = isOn(within(table, 'features')['view_image']) ?? isOn(tools['view_image']);
  return {
    ...(webSearch !== undefined && { web_search: webSearch }),
    ...(plan !== undefined && { plan }),
    ...(viewImage !== undefined && { view_image: viewImage }),
  };
}

function within(table: Table, key: string): Table {
  const value = table[key];
  return isTable(value) ? value : {};
}

function isOn(value: unknown): boolean | undefined {
  if (isTable(value)) return true; // the tool's options
  return typeof value === 'boolean' ? value : undefined;
}

function isSearching(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  return typeof value === 'string' ? value !== 'disabled' : undefined;
}
