// What of a server must not be repeated in anything we write: what it is configured with as its secrets, and
// what variables were filled in with, wherever they stand.
import { parseAddress } from '../../child/remote/address.ts';
import { commandSecrets, filledIn } from '../../child/secrets.ts';
import type { ChildConfig, Command, Remote } from '../../config/config.ts';

/** The server as it was written, and as it is with its variables filled in from `env`. */
export interface FilledIn {
  readonly child: ChildConfig;
  readonly command: Command | undefined;
  readonly remote: Remote | undefined;
  readonly env: NodeJS.ProcessEnv;
}

export function serverSecrets({ child, command, remote, env }: FilledIn): string[] {
  return [
    ...(command ? commandSecrets(child, command, env) : []),
    ...(remote ? addressSecrets(child, remote, env) : []),
  ].filter((secret) => secret !== '');
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
