// What a Switchboard below this one must be told to be the same: the engine hands its servers little of
// the environment, and without these another engine would be looked for, or none be found.
import type { Config } from '../../config/config.ts';

/** The variables that are set for us, relative paths made whole: it may run in another folder. */
export function environmentOfSelf(
  { agents, home }: Pick<Config, 'agents' | 'home'>,
  env: NodeJS.ProcessEnv,
): Record<string, string> {
  const values: Readonly<Record<string, string | undefined>> = {
    SWITCHBOARD_CODEX_BIN: agents.codexBin,
    AGENTS_CODEX_HOME: agents.codexHome,
    CODEX_HOME: env['CODEX_HOME'],
    SWITCHBOARD_HOME: home,
  };
  const told: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    if (env[name] && value !== undefined) told[name] = value;
  }
  return told;
}
