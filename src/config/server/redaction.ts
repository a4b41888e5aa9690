// A server's rules for redaction. They only get stricter across files: paths add up, and the most careful setting applies.
import { isJsonPath } from '../../base/json-path.ts';
import { RESULT_SECRETS, type ResultSecrets } from '../config.ts';
import { DEFAULTS } from '../defaults.ts';
import { type Layer, NONE, suiteOf } from '../files/layers.ts';
import type { ConfigFile, SuiteKeys } from '../schema/schema.ts';
import type { Declaration } from './command.ts';

interface RedactionRules {
  readonly resultSecrets: ResultSecrets;
  readonly redact: readonly string[];
}

/** `layers`: the main files. All of their rules for a server of this name apply, whichever one declares it. */
export function resolveRedaction(
  name: string,
  { entry }: Declaration,
  layers: readonly Layer[],
): RedactionRules {
  if (isSilent(entry) && layers.every(({ config }) => isSilentFile(config, name))) return PLAIN;
  const inFiles = layers.map(({ config }) => ({
    suite: suiteOf(config, name),
    declared: serverIn(config, name),
    general: config.results,
  }));
  const paths = [entry, ...inFiles.flatMap(({ suite, declared }) => [declared, suite])].flatMap(
    ({ redact }) => redact ?? [],
  );
  // In each file, a setting for the server overrides the one for all.
  const settings = inFiles.map(
    ({ suite, declared, general }) =>
      suite.results?.secrets ?? declared.results?.secrets ?? general?.secrets,
  );
  const isElsewhere = inFiles.every(({ declared }) => declared !== entry);
  return {
    resultSecrets: mostCareful(isElsewhere ? [...settings, entry.results?.secrets] : settings),
    redact: [...new Set(paths)],
  };
}

/** Most servers have no rules, and starting with hundreds of them takes no longer for it. */
const PLAIN: RedactionRules = { resultSecrets: DEFAULTS.resultSecrets, redact: [] };

function isSilentFile(config: ConfigFile, name: string): boolean {
  if (config.results?.secrets !== undefined) return false;
  return isSilent(suiteOf(config, name)) && isSilent(serverIn(config, name));
}

function isSilent({ redact, results }: SuiteKeys): boolean {
  return redact === undefined && results?.secrets === undefined;
}

function serverIn({ mcpServers = {} }: ConfigFile, name: string): SuiteKeys {
  return (Object.hasOwn(mcpServers, name) ? mcpServers[name] : undefined) ?? NONE;
}

function mostCareful(settings: readonly (ResultSecrets | undefined)[]): ResultSecrets {
  const ranks = settings.flatMap((setting) => (setting ? RESULT_SECRETS.indexOf(setting) : []));
  return RESULT_SECRETS[Math.max(...ranks)] ?? DEFAULTS.resultSecrets;
}

/** Error messages for paths that can't be used. */
export function invalidPaths(paths: readonly string[]): string[] {
  return paths
    .filter((path) => !isJsonPath(path))
    .map(
      (path) =>
        `redact: ${JSON.stringify(path)} is not a supported path. Write it like "$.apiKey", "$.list[*].key" or "$..token".`,
    );
}
