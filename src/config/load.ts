// Reads the whole configuration: the project's file, the user's file and the child files. This is
// on the way to the first answer of every session, so it reads synchronously and loads nothing
// heavy unless a file asks for it.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { SwitchboardError } from '../base/errors.ts';
import { isFolder } from '../base/process.ts';
import { checkConfigFile } from './check.ts';
import { readChildFiles } from './child-files.ts';
import type { Config } from './config.ts';
import { DEFAULTS } from './defaults.ts';
import { findConfigFile, readConfigFile } from './files.ts';
import { expandHome, findFiles } from './globs.ts';
import { findPlaces } from './places.ts';
import { type Layer, messageBytesOf, resolveChildren, setting } from './resolve.ts';
import { findServersFiles, readServersFile, type ServersLayer } from './servers-file.ts';

export interface LoadOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Read instead of the project's own file. */
  readonly configFile?: string | undefined;
  /** A `servers.json`, read instead of the usual ones. */
  readonly serversFile?: string | undefined;
}

export async function loadConfig({
  cwd,
  env,
  configFile,
  serversFile,
}: LoadOptions): Promise<Config> {
  const { homeFolder, home, project } = findPlaces(cwd, env);
  if (!isFolder(project)) throw noProject(project);
  const absolute = (path: string) => resolve(cwd, expandHome(path, homeFolder));

  const named = configFile || env['SWITCHBOARD_CONFIG'];
  if (named && !existsSync(absolute(named))) throw missing(absolute(named), configFile);
  const projectFile = named ? absolute(named) : findConfigFile(project);
  const userFile = findConfigFile(home);

  const files = new Set([projectFile, userFile].filter((file) => file !== undefined));
  const layers: Layer[] = [];
  for (const file of files) {
    layers.push({ file, config: await readMainFile(file) });
  }

  const globs = setting(layers, (config) => config.discoverGlobs) ?? DEFAULTS.discoverGlobs;
  const found = await readChildFiles(await findFiles(globs, project, homeFolder));
  const saidFile = setting(layers, (config) => config.serversFile);
  const namedServers = serversFile
    ? absolute(serversFile)
    : saidFile && resolve(project, expandHome(saidFile, homeFolder));
  const serversFiles: ServersLayer[] = [];
  for (const file of findServersFiles(namedServers, project, home)) {
    serversFiles.push(await readServersFile(file).catch(tooDeep(file)));
  }
  const settled = resolveChildren({
    project,
    homeFolder,
    layers,
    childFiles: found.children,
    serversFiles,
    idleMs: parseIdleMs(env['SWITCHBOARD_CHILD_IDLE_MS']),
  });
  return {
    project,
    home,
    files: [...files, ...serversFiles.map(({ file }) => file)],
    children: settled.children,
    flipSuites: setting(layers, ({ flip }) => flip?.suites) ?? DEFAULTS.flipSuites,
    messageBytes: messageBytesOf(layers),
    warnings: [...settled.warnings, ...found.warnings],
  };
}

async function readMainFile(file: string) {
  return readConfigFile(file).then(checkConfigFile).catch(tooDeep(file));
}

/** JSON that nests without end overflows the stack of whoever reads it. */
function tooDeep(file: string): (error: unknown) => never {
  return (cause) => {
    if (!(cause instanceof RangeError)) throw cause;
    throw new SwitchboardError('CONFIG_INVALID', `${file} nests too deep.`, { cause });
  };
}

function parseIdleMs(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const ms = Number(text);
  if (ms >= 0) return ms;
  throw new SwitchboardError('CONFIG_INVALID', 'SWITCHBOARD_CHILD_IDLE_MS is not a number.', {
    hint: 'It is the time in milliseconds after which servers that nobody uses are stopped.',
  });
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
