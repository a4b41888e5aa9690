// Where the user's home, Switchboard's own folder and the project are, before any file is read: what
// runs can be asked even where a configuration is wrong.
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { SwitchboardError } from '../base/errors.ts';
import { expandHome } from './globs.ts';

export interface Places {
  /** What `~` stands for. */
  readonly homeFolder: string;
  /** Switchboard's own folder, `$SWITCHBOARD_HOME`. */
  readonly home: string;
  /** The folder that relative paths of the configuration are meant from. It may not exist. */
  readonly project: string;
}

export function findPlaces(cwd: string, env: NodeJS.ProcessEnv): Places {
  // An empty variable is one that somebody tried to unset.
  const homeFolder = env['HOME'] || findHome(env);
  const absolute = (path: string): string => resolve(cwd, expandHome(path, homeFolder));
  return {
    homeFolder,
    home: absolute(env['SWITCHBOARD_HOME'] || join(homeFolder, '.switchboard')),
    project: absolute(env['WORKSPACE_DIR'] || '.'),
  };
}

/** The user's home by the system's own list, in which not every user stands. */
function findHome(env: NodeJS.ProcessEnv): string {
  try {
    return homedir();
  } catch (cause) {
    // Only needed where `~` is written.
    if (env['SWITCHBOARD_HOME']) return env['SWITCHBOARD_HOME'];
    throw new SwitchboardError('CONFIG_INVALID', 'Your home folder is not known to the system.', {
      hint: 'Set HOME, or SWITCHBOARD_HOME to a folder for what Switchboard keeps.',
      cause,
    });
  }
}
