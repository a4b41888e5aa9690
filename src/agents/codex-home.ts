// Where Codex keeps its login and its configuration: a folder for agents alone, the one that the
// environment names, or its usual one.
import { join } from 'node:path';
import type { AgentSettings } from '../config/config.ts';

export interface CodexHomeOptions {
  readonly settings: Pick<AgentSettings, 'codexHome'>;
  readonly env: NodeJS.ProcessEnv;
  /** What `~` stands for. */
  readonly homeFolder: string;
}

export function codexHomeOf({ settings, env, homeFolder }: CodexHomeOptions): string {
  return settings.codexHome ?? (env['CODEX_HOME'] || join(homeFolder, '.codex'));
}
