// Where the other programs keep their files.
import type { AgentSettings } from '../../../config/config.ts';
import type { ServerFolders } from '../candidate.ts';

export interface ProgramPlaces extends ServerFolders {
  readonly settings: Pick<AgentSettings, 'vscodeUserMcp' | 'codexHome'>;
  readonly env: NodeJS.ProcessEnv;
}
