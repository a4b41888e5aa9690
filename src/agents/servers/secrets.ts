// What of a server must not be repeated in anything that we write: what it is configured with as its secrets, and
// what variables were filled in with, wherever they stand. A key is often an argument, or part of an address.
import { minimalEnvironment } from '../../base/process.ts';
import { parseAddress } from '../../child/remote/address.ts';
import type { ChildConfig, Command, Remote } from '../../config/config.ts';
import { variablesIn } from '../../config/expand.ts';

/** The server as it was written, and as it is with its variables filled in from `env`. */
export interface FilledIn {
  readonly child: ChildConfig;
  readonly command: Command | undefined;
  readonly remote: Remote | undefined;
  readonly env: NodeJS.ProcessEnv;
}

export function serverSecrets({ child, command, remote, env }: FilledIn): string[] {
  const { cmd = '', args = [] } = child.command ?? {};
  const secrets = [
    ...Object.values(command?.env ?? {}),
    ...[cmd, ...args].flatMap((text) => filledIn(text, env)),
    ...(remote ? addressSecrets(child, remote, env) : []),
  ];
  return [...new Set(secrets)].filter((secret) => secret !== '');
}

/** HOME and its like are no secrets, and stand in every path that is told. */
function filledIn(text: string, env: NodeJS.ProcessEnv): string[] {
  const known = minimalEnvironment(env);
  const names = variablesIn(text).filter((name) => !Object.hasOwn(known, name));
  return names.flatMap((name) => (Object.hasOwn(env, name) ? (env[name] ?? []) : []));
}

function addressSecrets(child: ChildConfig, remote: Remote, env: NodeJS.ProcessEnv): string[] {
  try {
    return [...parseAddress(child, remote, env).secrets];
  } catch {
    // No address that could be reached: whoever tries will say so, and may quote all of it.
    return [
      remote.url,
      ...filledIn(child.remote?.url ?? '', env),
      ...Object.values(remote.headers),
    ];
  }
}
