// Where the configuration lies: the two folders, and the main file in each of them.
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { isFolder } from '../../base/process.ts';
import { findConfigFile } from './files.ts';
import { expandHome } from './globs.ts';

export interface PlaceOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Read instead of the project's own file. */
  readonly configFile?: string | undefined;
}

export interface Folders {
  /** The folder that relative paths of the configuration are meant from. It may not exist. */
  readonly project: string;
  /** Switchboard's own folder, `$SWITCHBOARD_HOME`. */
  readonly home: string;
  /** What `~` stands for. */
  readonly homeFolder: string;
}

export interface Places extends Folders {
  /** The main file of the project, or the one that is read in its place. */
  readonly projectFile: string | undefined;
  readonly userFile: string | undefined;
}

/** The folders alone: what runs can be asked even where a configuration is wrong. */
export function findFolders({ cwd, env }: PlaceOptions): Folders {
  // An empty variable is one that somebody tried to unset.
  const homeFolder = env['HOME'] || env['USERPROFILE'] || findHome(env);
  const absolute = (path: string) => resolve(cwd, expandHome(path, homeFolder));
  return {
    project: absolute(env['WORKSPACE_DIR'] || '.'),
    home: absolute(env['SWITCHBOARD_HOME'] || join(homeFolder, '.switchboard')),
    homeFolder,
  };
}

export function findPlaces(options: PlaceOptions): Places {
  const { cwd, env, configFile } = options;
  const folders = findFolders(options);
  const { project, home, homeFolder } = folders;
  if (!isFolder(project)) throw noProject(project);
  const absolute = (path: string) => resolve(cwd, expandHome(path, homeFolder));
  const named = configFile || env['SWITCHBOARD_CONFIG'];
  if (named && !existsSync(absolute(named))) throw missing(absolute(named), configFile);
  return {
    ...folders,
    projectFile: named ? absolute(named) : findConfigFile(project),
    userFile: findConfigFile(home),
  };
}

/** The user's home by the system's own list, in which not every user stands. */
function findHome(env: NodeJS.ProcessEnv): string {
  try {
    return userInfo().homedir; // not os.homedir, which reads this process's environment
  } catch (cause) {
    // Only needed where `~` is written.
    if (env['SWITCHBOARD_HOME']) return env['SWITCHBOARD_HOME'];
    throw new SwitchboardError('CONFIG_INVALID', 'Your home folder is not known to the system.', {
      hint: 'Set HOME, or SWITCHBOARD_HOME to a folder for what Switchboard keeps.',
      cause,
    });
  }
}

function noProject(folder: string): SwitchboardError {
  return new SwitchboardError('CONFIG_INVALID', `There is no project folder ${folder}.`, {
    hint: 'WORKSPACE_DIR names it. Hosts fill in variables such as ${workspaceFolder} only if they know them.',
  });
}

function missing(file: string, configFile: string | undefined): SwitchboardError {
  const source = configFile ? '--config' : 'SWITCHBOARD_CONFIG';
  return new SwitchboardError('CONFIG_INVALID', `There is no configuration file ${file}.`, {
    hint: `${source} names it. Correct it, or leave it out.`,
  });
}
