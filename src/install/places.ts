// The files of an installation, in Switchboard's home and in Claude Code's folder.
import { join, resolve } from 'node:path';
import { expandHome } from '../config/files/globs.ts';
import { findFolders } from '../config/files/places.ts';

export interface InstallPlaces {
  /** `$SWITCHBOARD_HOME`. */
  readonly home: string;
  /** The user's home folder. */
  readonly homeFolder: string;
  readonly serversFile: string;
  readonly backups: string;
  /** The skill's text, which the user may edit. */
  readonly skillCopy: string;
  /** Where Claude Code looks for the skill: a link to the copy. */
  readonly skillLink: string;
  /** Where Claude Code keeps the user's servers. */
  readonly claudeFile: string;
  /** The servers of an mcpflip installation. */
  readonly mcpflipServers: string;
}

export function findInstallPlaces(cwd: string, env: NodeJS.ProcessEnv): InstallPlaces {
  const { home, homeFolder } = findFolders({ cwd, env });
  const absolute = (path: string) => resolve(cwd, expandHome(path, homeFolder));
  const claudeFolder = env['CLAUDE_CONFIG_DIR'];
  return {
    home,
    homeFolder,
    serversFile: join(home, 'servers.json'),
    backups: join(home, 'backups'),
    skillCopy: join(home, 'skill', 'SKILL.md'),
    skillLink: join(absolute(claudeFolder || '~/.claude'), 'skills', 'switchboard', 'SKILL.md'),
    claudeFile: join(absolute(claudeFolder || '~'), '.claude.json'),
    // mcpflip always uses this path, even if Claude Code's folder is elsewhere.
    mcpflipServers: absolute('~/.claude/mcpflip/servers.json'),
  };
}
