// The environment a server inherits: everything, except credentials that belong to Switchboard or to the host's session.
// A server that needs one of them gets it through its own `env`.
import { minimalEnvironment } from '../base/process.ts';
import type { ChildConfig } from '../config/config.ts';

/** Switchboard's own, such as the token for HTTP hosts. */
const OWN = /^SWITCHBOARD_.*(?:TOKEN|KEY|SECRET)$/i;

/** What Claude Code, Codex and VS Code pass to their own processes: sign-ins, session tokens, and where to find them. */
const OF_THE_HOST =
  /^(?:CLAUDE_(?:\w+_)?TOKEN(?:_FILE(?:_DESCRIPTOR)?)?|CLAUDE_CODE_\w+_FILE_DESCRIPTOR|CLAUDE_CODE_HOST_CREDS_FILE|CLAUDE_CODE_MESSAGING_SOCKET|CODEX_(?:\w+_)?TOKEN|VSCODE_(?:\w+_)?TOKEN)$/i;

/** `env` is the project's environment. */
export function inheritedEnvironment(
  { environment, behind }: Pick<ChildConfig, 'environment' | 'behind'>,
  env: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  if (environment === 'minimal') return minimalEnvironment(env);
  // An assistant's model may need the host's sign-in. The server behind it doesn't inherit it.
  return withoutCredentials(env, behind ? /^/ : undefined);
}

/** For the other programs we start. `kept`: credentials of the host that this program needs to sign in. */
export function withoutCredentials(env: NodeJS.ProcessEnv, kept?: RegExp): NodeJS.ProcessEnv {
  const isWithheld = (name: string): boolean =>
    OWN.test(name) || (OF_THE_HOST.test(name) && !kept?.test(name));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isWithheld(name)));
}
