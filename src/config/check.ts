// Lets through what the configuration may look like, and refuses the rest with words. What is loaded
// at every start is the bare shape; the schema with its words follows for a file that is wrong.
import { SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import { didYouMean } from '../base/text.ts';
import type { Source } from './files.ts';
import { fits, type JsonSchema } from './fits.ts';
import type { KeyPath } from './position.ts';
import type { ChildFile, ConfigFile, ServerEntry, ServersFile } from './schema.ts';
import generated from './shape.json' with { type: 'json' };
import { formatPath } from './wording.ts';

const CONFIG: JsonSchema = generated;
const CHILD_FILE: JsonSchema = generated.$defs.childFile;
const SERVERS_FILE: JsonSchema = generated.properties.mcpServers;
const SERVER: JsonSchema = generated.properties.mcpServers.additionalProperties;

/** The value of a main file; a single mistake in it refuses the whole file. */
export async function checkConfigFile(source: Source): Promise<ConfigFile> {
  const { value } = source;
  if (isConfigFile(value)) return value;
  throw await invalid('config', source);
}

/** The servers at this place of a `servers.json`; a single mistake refuses the whole file. */
export async function checkServersFile(source: Source, where: KeyPath): Promise<ServersFile> {
  const { value } = source;
  if (isServersFile(value)) return value;
  throw await invalid('serversFile', source, where);
}

async function invalid(
  kind: 'config' | 'serversFile',
  source: Source,
  where: KeyPath = [],
): Promise<SwitchboardError> {
  const { describeProblems } = await import('./problems.ts');
  const problems = await describeProblems(kind, source, where);
  return new SwitchboardError('CONFIG_INVALID', problems.join('\n'), {
    hint: '`switchboard config schema` prints every key and what it means.',
  });
}

/** The value of a child file, or a text that says why it is none. */
export async function checkChildFile(
  source: Source,
): Promise<{ readonly value: ChildFile } | { readonly problem: string }> {
  const { value } = source;
  if (isChildFile(value)) return { value };
  const { describeProblems } = await import('./problems.ts');
  return { problem: (await describeProblems('childFile', source)).join('\n') };
}

function isConfigFile(value: unknown): value is ConfigFile {
  return fits(CONFIG, value);
}

function isServersFile(value: unknown): value is ServersFile {
  return fits(SERVERS_FILE, value);
}

/** Whether it can stand in a `servers.json`: one that cannot would make the whole file unreadable. */
export function isServerEntry(value: unknown): value is ServerEntry {
  return fits(SERVER, value);
}

export function isChildFile(value: unknown): value is ChildFile {
  return fits(CHILD_FILE, value);
}

/** Sentences about keys of a server's entry, at this place of its file, that nothing here reads. */
export function strangeServerKeys(
  where: KeyPath,
  entry: Readonly<Record<string, unknown>>,
): string[] {
  return strangeKeys(SERVER, entry, where);
}

export function strangeChildFileKeys(entry: Readonly<Record<string, unknown>>): string[] {
  return strangeKeys(CHILD_FILE, entry, []);
}

function strangeKeys(
  schema: JsonSchema,
  entry: Readonly<Record<string, unknown>>,
  where: KeyPath,
): string[] {
  const { properties = {} } = schema;
  const { command, oauth } = entry;
  return [
    ...strangersIn(entry, properties, where),
    ...(isObject(command) ? strangersIn(command, COMMAND_KEYS, [...where, 'command']) : []),
    ...(isObject(oauth)
      ? strangersIn(oauth, properties['oauth']?.properties ?? {}, [...where, 'oauth'])
      : []),
  ];
}

const COMMAND_KEYS = { cmd: {}, args: {}, env: {} };

function strangersIn(value: object, known: object, where: KeyPath): string[] {
  return Object.keys(value)
    .filter((key) => !Object.hasOwn(known, key))
    .map((key) => {
      const hint = didYouMean(key, Object.keys(known));
      return `${formatPath([...where, key])} is unknown and ignored. ${hint}`.trimEnd();
    });
}
