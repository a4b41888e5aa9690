// Locates the configuration: the project, Switchboard's home, and the main file in each.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { isFolder } from '../../base/make-folder.ts';
import { pathInside } from '../../base/paths.ts';
import { findConfigFile } from './files.ts';
import { expandHome } from './globs.ts';

export interface PlaceOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Read instead of the project's file. */
  readonly configFile?: string | undefined;
}

export interface Folders {
  /** Relative paths in the configuration start here. It may not exist. */
  readonly project: string;
  /** `$SWITCHBOARD_HOME`. */
  readonly home: string;
  /** The user's home, for `~`. */
  readonly homeFolder: string;
}

export interface Places extends Folders {
  /** The project's main file, or the one named by `--config` or `SWITCHBOARD_CONFIG`. */
  readonly projectFile: string | undefined;
  readonly userFile: string | undefined;
}

/** Only the folders: `status` works even if the configuration is invalid. */
export function findFolders({ cwd, env }: PlaceOptions): Folders {
  // An empty variable counts as unset.
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

/**
 * Whether a file is the user's own, not part of a project: it's in `$SWITCHBOARD_HOME`, or the project is the user's home
 * and the file is directly in it.
 */
export function isUsersFile(file: string, { project, home, homeFolder }: Folders): boolean {
  if (pathInside(home, file) !== undefined) return true;
  return project === homeFolder && dirname(file) === homeFolder;
}

/** Throws if the system doesn't know the user. */
function findHome(env: NodeJS.ProcessEnv): string {
  try {
    // Not os.homedir, which reads this process's environment.
    return process.getBuiltinModule('node:os').userInfo().homedir;
  } catch (cause) {
    // Then it's only needed for `~`.
    if (env['SWITCHBOARD_HOME']) return env['SWITCHBOARD_HOME'];
    throw new SwitchboardError('CONFIG_INVALID', 'Cannot determine your home directory.', {
      hint: "Set HOME, or set SWITCHBOARD_HOME to a folder for Switchboard's files.",
      cause,
    });
  }
}

function noProject(folder: string): SwitchboardError {
  return new SwitchboardError('CONFIG_INVALID', `Project folder not found: ${folder}.`, {
    hint: 'Check WORKSPACE_DIR. Not every host expands variables such as ${workspaceFolder}.',
  });
}

function missing(file: string, configFile: string | undefined): SwitchboardError {
  const source = configFile ? '--config' : 'SWITCHBOARD_CONFIG';
  return new SwitchboardError('CONFIG_INVALID', `Configuration file not found: ${file}.`, {
    hint: `Correct ${source}, or remove it.`,
  });
}
