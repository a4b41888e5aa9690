// The main files and their content, highest precedence first.
import type { CheckedConfig } from '../schema/check.ts';
import type { ConfigFile, SuiteKeys } from '../schema/schema.ts';

/** A main file and its content. */
export interface Layer extends CheckedConfig {
  readonly file: string;
}

/** The value from the file with the highest precedence that has one. */
export function setting<T>(
  layers: readonly Layer[],
  read: (config: ConfigFile) => T | undefined,
): T | undefined {
  for (const { config } of layers) {
    const value = read(config);
    if (value !== undefined) return value;
  }
  return undefined;
}

export const NONE: SuiteKeys = {};

/** The keys under `suites.<name>`. */
export function suiteOf({ suites = {} }: ConfigFile, name: string): SuiteKeys {
  return (Object.hasOwn(suites, name) ? suites[name] : undefined) ?? NONE;
}
