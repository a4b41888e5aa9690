// What of a server must not be repeated in anything we write: the values of its variables and headers,
// and whatever was filled in for `${VAR}`, wherever that is. A key is often an argument.
import { minimalEnvironment } from '../base/process.ts';
import type { ChildConfig, Command } from '../config/config.ts';
import { expandCommand, expandRemote, variablesIn } from '../config/server/expand.ts';

/** `command` is that of the child, with its variables filled in from `env`. */
export function commandSecrets(
  { command: written }: ChildConfig,
  command: Command,
  env: NodeJS.ProcessEnv,
): string[] {
  const { cmd = '', args = [], env: own = {} } = written ?? {};
  const filled = [cmd, ...args, ...Object.values(own)].flatMap((text) => filledIn(text, env));
  return distinct([...Object.values(command.env), ...filled]);
}

/** An assistant may quote the server for which it speaks, whose secrets are no less secret for that. */
export function secretsBehind({ behind }: ChildConfig, env: NodeJS.ProcessEnv): string[] {
  if (!behind) return [];
  try {
    if (!behind.remote) return commandSecrets(behind, expandCommand(behind, env), env);
    const { url, headers } = behind.remote;
    const filled = [url, ...Object.values(headers)].flatMap((text) => filledIn(text, env));
    return distinct([...Object.values(expandRemote(behind, env).headers), ...filled]);
  } catch {
    return []; // it cannot be started, and the assistant will say why
  }
}

/** The values of the variables in a text. HOME and its like are no secrets, and are in every path. */
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
