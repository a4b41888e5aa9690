// The main files with what each says, strongest first, and the questions that are put to them.
import type { CheckedConfig } from '../schema/check.ts';
import type { ConfigFile, SuiteKeys } from '../schema/schema.ts';

/** A main file and its content. */
export interface Layer extends CheckedConfig {
  readonly file: string;
}

/** The strongest file's word on a setting. */
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

/** What a file says about one child, under `suites`. */
export function suiteOf({ suites = {} }: ConfigFile, name: string): SuiteKeys {
  return (Object.hasOwn(suites, name) ? suites[name] : undefined) ?? NONE;
}
