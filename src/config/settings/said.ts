// What has been said about a setting that can be written in several places: in a variable of the
// environment, in the main files, in config.toml; the first is the strongest. A bad value in the
// environment or in config.toml is told and passed over, since a host must still get its server; the main
// files have been checked by their schema before.
import type { Kind } from './values.ts';

export type SettingValue = boolean | number | string | readonly string[];

export interface Setting<T> {
  readonly variable: string;
  readonly kind: Kind<T>;
  /** What holds where nobody has said anything; undefined if `says` tells it. */
  readonly standard?: T;
  /** Its key in config.toml, for those that have one. */
  readonly toml?: string;
  /** The same, where config.toml adds to what holds without it. */
  readonly tomlAdds?: string;
  /** What it is for. */
  readonly says: string;
}

export interface SaidPlaces {
  readonly env: NodeJS.ProcessEnv;
  /** The same object of each main file, strongest first. */
  readonly files: readonly Readonly<Record<string, unknown>>[];
  readonly toml: TomlTable;
  readonly warn: (sentence: string) => void;
}

/** A table of config.toml. */
export interface TomlTable {
  readonly values: Readonly<Record<string, unknown>>;
  /** What stands before a key when it is talked about: the file and the table. */
  readonly where: string;
}

export const NO_TABLE: TomlTable = { values: {}, where: '' };

export const NOTHING_SAID: SaidPlaces = { env: {}, files: [], toml: NO_TABLE, warn: () => {} };

/** The strongest word on a setting; undefined if nobody has said anything. */
export function said<T>(key: string, setting: Setting<T>, places: SaidPlaces): T | undefined {
  const inEnvironment = saidInEnvironment(setting, places);
  const inFiles = saidInFiles(key, setting, places);
  const inToml = saidInToml(setting.toml, setting.kind, places);
  return inEnvironment ?? inFiles ?? inToml;
}

/** What a variable says; mostly an empty one is one that somebody tried to unset. */
function saidInEnvironment<T>(
  { variable, kind }: Setting<T>,
  { env, warn }: SaidPlaces,
): T | undefined {
  const text = env[variable];
  if (text === undefined || (text.trim() === '' && !kind.canBeEmpty)) return undefined;
  return kind.fromText(text) ?? refuse(variable, kind, warn);
}

function saidInFiles<T>(key: string, { kind }: Setting<T>, { files }: SaidPlaces): T | undefined {
  for (const file of files) {
    if (file[key] !== undefined) return kind.fromValue(file[key]);
  }
  return undefined;
}

export function saidInToml<T>(
  key: string | undefined,
  kind: Kind<T>,
  { toml, warn }: SaidPlaces,
): T | undefined {
  const value = key !== undefined && Object.hasOwn(toml.values, key) ? toml.values[key] : undefined;
  if (value === undefined || (value === '' && !kind.canBeEmpty)) return undefined;
  return kind.fromValue(value) ?? refuse(`${toml.where}.${key}`, kind, warn);
}

// The value is not repeated: it may be a secret in the wrong place.
function refuse(
  name: string,
  { allowed }: Kind<unknown>,
  warn: (sentence: string) => void,
): undefined {
  warn(`${name} must be ${allowed}; what it says is ignored.`);
}
