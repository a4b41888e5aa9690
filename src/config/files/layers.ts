// The main files and their content, highest precedence first.
import type { Basis, Subject } from '../judge.ts';
import type { CheckedConfig } from '../schema/check.ts';
import type { ConfigFile, SuiteKeys } from '../schema/schema.ts';

/** A main file and its content. */
export interface Layer extends CheckedConfig {
  readonly file: string;
  /** Undefined for the user's files, and for JavaScript that may run. */
  readonly origin?: Subject['origin'] | undefined;
  /** Where JavaScript that may run comes from. */
  readonly script?: Subject['origin'] | undefined;
  /** The file's text, for approvals of its servers. */
  readonly basis?: Basis | undefined;
  /** The whole content of a file whose settings aren't approved. It counts only for the project's own servers. */
  readonly full?: CheckedConfig | undefined;
}

/** As the project's own servers see them: their approvals cover the settings. */
export function fullLayers(layers: readonly Layer[]): Layer[] {
  return layers.map((layer) => (layer.full ? { ...layer, ...layer.full } : layer));
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
