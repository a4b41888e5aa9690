// A server's secrets, which are masked in everything we write: the values of its environment variables and headers, and
// whatever `${VAR}` expands to. Arguments often contain keys.
import { minimalEnvironment } from '../base/process.ts';
import type { ChildConfig, Command } from '../config/config.ts';
import { expandableStrings, expandVariables, variablesIn } from '../config/server/expand.ts';

/** `command` is the server's, with its variables expanded from `env`. */
export function commandSecrets(
  { command: written }: ChildConfig,
  command: Command,
  env: NodeJS.ProcessEnv,
): string[] {
  const { cmd = '', args = [], env: own = {} } = written ?? {};
  const expanded = [cmd, ...args, ...Object.values(own)].flatMap((text) => filledIn(text, env));
  return distinct([...Object.values(command.env), ...expanded]);
}

/** Everything to mask for a session that joins a running process: another session may write the same values literally. */
export function secretsOfSession(
  config: ChildConfig,
  env: NodeJS.ProcessEnv,
  variables: NodeJS.ProcessEnv,
): string[] {
  const expanded = expandableStrings(config).flatMap(([, text]) => filledIn(text, variables));
  const { command, remote } = config;
  const values = [...Object.values(command?.env ?? {}), ...Object.values(remote?.headers ?? {})];
  const own = values.map((value) => expandKnown(value, variables));
  return distinct([...own, ...expanded, ...secretsBehind(config, env)]);
}

/** The secrets of the server behind an assistant, which the assistant may quote. */
export function secretsBehind({ behind }: ChildConfig, env: NodeJS.ProcessEnv): string[] {
  if (!behind) return [];
  const { command, remote } = behind;
  const values = [...Object.values(command?.env ?? {}), ...Object.values(remote?.headers ?? {})];
  const others = [command?.cmd ?? '', ...(command?.args ?? []), remote?.url ?? ''];
  const expanded = [...values, ...others].flatMap((text) => filledIn(text, env));
  return distinct([...values.map((value) => expandKnown(value, env)), ...expanded]);
}

/** Empty if a variable is missing, or a secret that only the assistant looks up. */
function expandKnown(text: string, env: NodeJS.ProcessEnv): string {
  try {
    return expandVariables(text, env);
  } catch {
    return '';
  }
}

/** The values of the variables in a text. HOME and the like aren't secret, and occur in every path. */
export function filledIn(text: string, env: NodeJS.ProcessEnv): string[] {
  const names = variablesIn(text);
  if (names.length === 0) return names;
  const known = minimalEnvironment(env);
  return names
    .filter((name) => !Object.hasOwn(known, name))
    .flatMap((name) => (Object.hasOwn(env, name) ? (env[name] ?? []) : []));
}

function distinct(secrets: readonly string[]): string[] {
  return [...new Set(secrets)].filter((secret) => secret !== '');
}
