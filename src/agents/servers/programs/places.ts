// Where the other programs keep their files.
import { join } from 'node:path';
import type { AgentSettings } from '../../../config/config.ts';
import type { ServerFolders } from '../candidate.ts';

export interface ProgramPlaces extends ServerFolders {
  readonly settings: Pick<AgentSettings, 'vscodeUserMcp' | 'codexHome'>;
  readonly env: NodeJS.ProcessEnv;
}

/** The folder of the engine's own configuration. */
export function codexFolder({ settings, env, homeFolder }: ProgramPlaces): string {
  return settings.codexHome ?? (env['CODEX_HOME'] || join(homeFolder, '.codex'));
}
