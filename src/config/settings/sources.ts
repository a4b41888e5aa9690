// Reads settings that can be set in several places. Precedence, highest first: environment variable, main files,
// config.toml. Invalid values in the environment or in config.toml are ignored with a warning, so the host still
// gets its server; main files have already been checked against the schema.
import type { Kind } from './values.ts';

export type SettingValue = boolean | number | string | readonly string[];

export interface Setting<T> {
  readonly variable: string;
  readonly kind: Kind<T>;
  /** Undefined if `description` explains the default. */
  readonly default?: T;
  /** The key in config.toml, if it has one. */
  readonly toml?: string;
  /** The key in config.toml, if its value is added to the default. */
  readonly tomlAdds?: string;
  readonly description: string;
}

export interface SettingSources {
  readonly env: NodeJS.ProcessEnv;
  /** The same object from each main file, highest precedence first. */
  readonly files: readonly Readonly<Record<string, unknown>>[];
  readonly toml: TomlTable;
  readonly warn: (sentence: string) => void;
}

/** A table of config.toml. */
export interface TomlTable {
  readonly values: Readonly<Record<string, unknown>>;
  /** The prefix for keys in messages: the file and the table. */
  readonly where: string;
}

export const EMPTY_TABLE: TomlTable = { values: {}, where: '' };

export const NO_SOURCES: SettingSources = {
  env: {},
  files: [],
  toml: EMPTY_TABLE,
  warn: () => {},
};

/** Undefined if no source sets it. Reads all of them, to warn about every invalid value. */
export function readSetting<T>(
  key: string,
  setting: Setting<T>,
  sources: SettingSources,
): T | undefined {
  const fromEnvironment = readFromEnvironment(setting, sources);
  const fromFiles = readFromFiles(key, setting, sources);
  const fromToml = readFromToml(setting.toml, setting.kind, sources);
  return fromEnvironment ?? fromFiles ?? fromToml;
}

/** An empty variable counts as unset. */
function readFromEnvironment<T>(
  { variable, kind }: Setting<T>,
  { env, warn }: SettingSources,
): T | undefined {
  const text = env[variable];
  if (text === undefined || (text.trim() === '' && !kind.canBeEmpty)) return undefined;
  return kind.fromText(text) ?? reject(variable, kind, warn);
}

function readFromFiles<T>(
  key: string,
  { kind }: Setting<T>,
  { files }: SettingSources,
): T | undefined {
  for (const file of files) {
    if (file[key] !== undefined) return kind.fromValue(file[key]);
  }
  return undefined;
}

export function readFromToml<T>(
  key: string | undefined,
  kind: Kind<T>,
  { toml, warn }: SettingSources,
): T | undefined {
  const value = key !== undefined && Object.hasOwn(toml.values, key) ? toml.values[key] : undefined;
  if (value === undefined || (value === '' && !kind.canBeEmpty)) return undefined;
  return kind.fromValue(value) ?? reject(`${toml.where}.${key}`, kind, warn);
}

// The value isn't repeated: it may be a secret in the wrong place.
function reject(
  name: string,
  { allowed }: Kind<unknown>,
  warn: (sentence: string) => void,
): undefined {
  warn(`${name} must be ${allowed}. Its value is ignored.`);
}
