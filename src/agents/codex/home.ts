// Codex's own folder, with its login and configuration: the one set for agents, the one in the
// environment, or the default.
import { join } from 'node:path';
import type { AgentSettings } from '../../config/config.ts';

export interface CodexHomeOptions {
  readonly settings: Pick<AgentSettings, 'codexHome'>;
  readonly env: NodeJS.ProcessEnv;
  /** What `~` expands to. */
  readonly homeFolder: string;
}

export function codexHomeOf({ settings, env, homeFolder }: CodexHomeOptions): string {
  return settings.codexHome ?? (env['CODEX_HOME'] || join(homeFolder, '.codex'));
}
