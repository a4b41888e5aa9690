// `config.toml` in Switchboard's home: the user's settings for agents and the log, with the lowest precedence. Few
// users have one, so the TOML parser is loaded only if it exists. Mistakes in it are warnings.
import { join } from 'node:path';
import { isObject } from '../../base/object.ts';
import { readTextFile } from '../../base/read-text.ts';
import { didYouMean } from '../../base/text.ts';
import { AGENT_KEYS } from '../settings/agent-keys.ts';
import { LOG_KEYS } from '../settings/logging.ts';
import { EMPTY_TABLE, type Setting, type TomlTable } from '../settings/sources.ts';
import { withoutByteOrderMark } from './files.ts';
import { parseToml } from './toml.ts';

export interface UserToml {
  /** Undefined if there is none. */
  readonly file: string | undefined;
  readonly agents: TomlTable;
  readonly logging: TomlTable;
  readonly warnings: readonly string[];
  /** Why it is ignored, if it is. */
  readonly broken?: string;
}

const TABLES: Readonly<Record<'agents' | 'logging', Readonly<Record<string, Setting<unknown>>>>> = {
  agents: AGENT_KEYS,
  logging: LOG_KEYS,
};

export async function readUserToml(home: string): Promise<UserToml> {
  const file = join(home, 'config.toml');
  const nothing = { file: undefined, agents: EMPTY_TABLE, logging: EMPTY_TABLE, warnings: [] };
  const tables = await readTables(file);
  if (tables === undefined) return nothing;
  if (typeof tables === 'string')
    return { ...nothing, warnings: [`${tables} The file is ignored.`], broken: tables };
  const table = (name: keyof typeof TABLES): TomlTable => {
    const values = tables[name];
    return { values: isObject(values) ? values : {}, where: `${file}: ${name}` };
  };
  return {
    file,
    agents: table('agents'),
    logging: table('logging'),
    warnings: warningsAbout(file, tables),
  };
}

/** The tables, or why they can't be read; undefined if there is no file. */
async function readTables(
  file: string,
): Promise<Readonly<Record<string, unknown>> | string | undefined> {
  const read = readTextFile(file);
  if ('problem' in read) return read.isMissing ? undefined : `${file}: ${read.problem}`;
  const parsed = await parseToml(withoutByteOrderMark(read.text));
  if ('table' in parsed) return parsed.table;
  return `${file}:${parsed.line}:${parsed.column}: ${parsed.problem}`;
}

function warningsAbout(file: string, tables: Readonly<Record<string, unknown>>): string[] {
  const known = new Map(Object.entries(TABLES).map(([name, table]) => [name, tomlKeysOf(table)]));
  return Object.entries(tables).flatMap(([name, table]) => {
    const keys = known.get(name);
    if (!keys) return [`${file}: ${describeUnknownKey(name, name, [...known.keys()])}`];
    if (!isObject(table)) return [`${file}: ${name}: expected a table (ignored).`];
    return Object.keys(table)
      .filter((key) => !keys.includes(key))
      .map((key) => `${file}: ${describeUnknownKey(`${name}.${key}`, key, keys)}`);
  });
}

function describeUnknownKey(path: string, key: string, known: readonly string[]): string {
  const hint = didYouMean(key, known) || `Known keys: ${known.join(', ')}.`;
  return `${path}: unknown key (ignored). ${hint}`;
}

function tomlKeysOf(settings: Readonly<Record<string, Setting<unknown>>>): string[] {
  return Object.values(settings).flatMap(({ toml, tomlAdds }) => toml ?? tomlAdds ?? []);
}
