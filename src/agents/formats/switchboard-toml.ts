// Switchboard's own format: TOML with `name`, `instructions`, `tools`, `[run]` and `[mcp_servers]`.
import { nearest } from '../../base/text.ts';
import { type AgentFile, createWarnings, type Draft, EMPTY_DRAFT, summarize } from './draft.ts';
import {
  COMMAS_AND_SPACES,
  describeValue,
  listOf,
  requiredText,
  textOf,
  toolsOf,
} from './fields.ts';
import { RUN_KEYS, runFieldsOf } from './run-fields.ts';
import { SERVER_KEYS, serversOf } from './server-entry.ts';
import { isTable, readToml } from './toml.ts';

const KEYS = [
  'name',
  'description',
  'tags',
  'instructions_file',
  'instructions',
  'tools',
  'run',
  'mcp_servers',
];
const TABLES = new Set(['run', 'mcp_servers']);
const LISTS = new Set(['tags', 'tools']);

export async function parseSwitchboardToml(file: AgentFile): Promise<Draft> {
  const { table, lineOf } = await readToml(file.text);
  const name = requiredText(table, 'name', lineOf);
  const { list: warnings, add } = createWarnings();
  const warn = (path: readonly string[], problem: () => string) =>
    add(() => `${lineOf(...path)}: ${path.join('.')}: ${problem()}`);
  for (const key of Object.keys(table)) {
    if (!KEYS.includes(key)) warn([key], () => describeUnknown(key, KEYS));
    else if (!hasRightForm(key, table[key])) {
      warn([key], () => `expected ${formOf(key)}, got ${describeValue(table[key])}. Ignored.`);
    }
  }
  const run = isTable(table['run']) ? table['run'] : {};
  for (const key of Object.keys(run)) {
    if (!RUN_KEYS.includes(key)) warn(['run', key], () => describeUnknown(key, RUN_KEYS));
  }
  for (const [key, entry] of Object.entries(
    isTable(table['mcp_servers']) ? table['mcp_servers'] : {},
  )) {
    for (const one of Object.keys(isTable(entry) ? entry : {})) {
      if (SERVER_KEYS.includes(one)) continue;
      warn(['mcp_servers', key, one], () => describeUnknown(one, SERVER_KEYS));
    }
  }
  const { servers, references } = serversOf(table['mcp_servers'], file, (key, problem) =>
    warn(['mcp_servers', key], () => problem),
  );
  return {
    ...EMPTY_DRAFT,
    ...summarize(name, textOf(table['description']), listOf(table['tags'], COMMAS_AND_SPACES)),
    instructions: textOf(table['instructions']),
    instructionsFile: textOf(table['instructions_file']),
    run: runFieldsOf(run, (key, problem) => warn(['run', key], () => problem)),
    tools: toolsOf(table['tools']),
    references,
    servers,
    warnings,
  };
}

function describeUnknown(key: string, known: readonly string[]): string {
  if (known === KEYS && RUN_KEYS.includes(key)) return 'has no effect here. Move it to [run].';
  const [meant] = nearest(key, known, 1);
  return meant === undefined ? 'unknown key.' : `unknown key. Did you mean "${meant}"?`;
}

function hasRightForm(key: string, value: unknown): boolean {
  if (TABLES.has(key)) return isTable(value);
  const isText = (one: unknown) => typeof one !== 'object';
  return LISTS.has(key) && Array.isArray(value) ? value.every(isText) : isText(value);
}

function formOf(key: string): string {
  if (TABLES.has(key)) return 'a table';
  return LISTS.has(key) ? 'a string or a list of strings' : 'a string';
}
