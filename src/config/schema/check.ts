// Checks files against the schema. Every start loads only the bare shape; the full schema with descriptions is
// loaded only for a file with mistakes.
import { isObject } from '../../base/object.ts';
import { didYouMean } from '../../base/text.ts';
import type { Source } from '../files/files.ts';
import type { KeyPath } from '../files/position.ts';
import { fits, type JsonSchema } from './fits.ts';
import type { ChildFile, ConfigFile, ServerEntry, ServersFile } from './schema.ts';
import generated from './shape.json' with { type: 'json' };
import { formatPath } from './wording.ts';

const CONFIG: JsonSchema = generated;
export const CHILD_FILE: JsonSchema = generated.$defs.childFile;
const SERVERS_FILE: JsonSchema = generated.properties.mcpServers;
export const SERVER: JsonSchema = generated.properties.mcpServers.additionalProperties;
export const SUITE: JsonSchema = generated.properties.suites.additionalProperties;

/** Error messages for the invalid entries of a file, by server. */
export type InvalidEntries = ReadonlyMap<string, readonly string[]>;

const NONE: InvalidEntries = new Map();

/** Invalid entries keep only the keys whose values are valid. */
export interface CheckedConfig {
  readonly config: ConfigFile;
  readonly invalidServers: InvalidEntries;
  readonly invalidSuites: InvalidEntries;
}

/** Checks a main file. Throws if there are mistakes outside of servers' entries. */
export async function checkConfigFile(source: Source): Promise<CheckedConfig> {
  const { value } = source;
  if (isConfigFile(value)) return { config: value, invalidServers: NONE, invalidSuites: NONE };
  return (await import('./salvage.ts')).salvageConfig(source);
}

/** Invalid entries keep only the keys whose values are valid. */
export interface CheckedServers {
  readonly servers: ServersFile;
  readonly invalid: InvalidEntries;
}

/** Checks the servers at this path in a `servers.json`. Throws if the value isn't an object. */
export async function checkServersFile(source: Source, where: KeyPath): Promise<CheckedServers> {
  const { value } = source;
  if (isServersFile(value)) return { servers: value, invalid: NONE };
  return (await import('./salvage.ts')).salvageServers(source, where);
}

/** An invalid file keeps only the keys whose values are valid; without a name it can't be used. */
export type CheckedChildFile =
  | { readonly entry: ChildFile; readonly invalid?: readonly string[] }
  | { readonly problem: string };

export async function checkChildFile(source: Source): Promise<CheckedChildFile> {
  const { value } = source;
  if (isChildFile(value)) return { entry: value };
  return (await import('./salvage.ts')).salvageChildFile(source);
}

export function isConfigFile(value: unknown): value is ConfigFile {
  return fits(CONFIG, value);
}

export function isServersFile(value: unknown): value is ServersFile {
  return fits(SERVERS_FILE, value);
}

/** Whether it is a valid entry of a `servers.json`. */
export function isServerEntry(value: unknown): value is ServerEntry {
  return fits(SERVER, value);
}

export function isChildFile(value: unknown): value is ChildFile {
  return fits(CHILD_FILE, value);
}

/** Warnings about unknown keys in a server's entry; `where` is its path in the file. */
export function unknownServerKeys(
  where: KeyPath,
  entry: Readonly<Record<string, unknown>>,
): string[] {
  return unknownKeys(SERVER, entry, where);
}

export function unknownChildFileKeys(entry: Readonly<Record<string, unknown>>): string[] {
  return unknownKeys(CHILD_FILE, entry, []);
}

function unknownKeys(
  schema: JsonSchema,
  entry: Readonly<Record<string, unknown>>,
  where: KeyPath,
): string[] {
  const { properties = {} } = schema;
  const { command, oauth } = entry;
  return [
    ...unknownKeysIn(entry, properties, where),
    ...(isObject(command) ? unknownKeysIn(command, COMMAND_KEYS, [...where, 'command']) : []),
    ...(isObject(oauth)
      ? unknownKeysIn(oauth, properties['oauth']?.properties ?? {}, [...where, 'oauth'])
      : []),
  ];
}

const COMMAND_KEYS = { cmd: {}, args: {}, env: {} };

function unknownKeysIn(value: object, known: object, where: KeyPath): string[] {
  return Object.keys(value)
    .filter((key) => !Object.hasOwn(known, key))
    .map((key) => {
      const hint = didYouMean(key, Object.keys(known));
      return `${formatPath([...where, key])}: unknown key (ignored). ${hint}`.trimEnd();
    });
}
