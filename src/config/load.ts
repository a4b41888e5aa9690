// Loads the whole configuration: the project's and the user's main file, child files, servers.json,
// mcp-descriptions.json, config.toml and the environment. Every start waits for it, so it reads synchronously and
// loads nothing heavy unless a file needs it.
import { dirname, join, resolve } from 'node:path';
import type { Config } from './config.ts';
import { DEFAULTS } from './defaults.ts';
import { readAssistantFolder, readChildFiles } from './files/child-files.ts';
import { describeWaiting } from './files/gate.ts';
import { expandHome, findFiles } from './files/globs.ts';
import { fullLayers, type Layer, setting } from './files/layers.ts';
import { type ReadLayersOptions, readLayers } from './files/main-files.ts';
import { isUsersFile, type Places } from './files/places.ts';
import {
  findServersFiles,
  type NamedFile,
  readServersFile,
  type ServersLayer,
} from './files/servers-file.ts';
import { readUserToml } from './files/user-toml.ts';
import { resolveChildren } from './resolve.ts';
import { collectDeclarations } from './server/declarations.ts';
import { readDerived } from './server/derived-descriptions.ts';
import { readDescriptions } from './server/descriptions.ts';
import {
  declaringFiles,
  readUsersFiles,
  type UsersFiles,
  type UsersServers,
} from './server/users-servers.ts';
import { agentFiles, resolveAgents } from './settings/agents.ts';
import { resolveAudit } from './settings/audit.ts';
import { resolveGeneral } from './settings/general.ts';
import { resolveHooks } from './settings/hooks.ts';
import { resolveLogging } from './settings/logging.ts';
import { hasRestrictions } from './settings/restrictions.ts';
import { resolveToolChanges } from './settings/tool-changes.ts';
import { BOOLEAN } from './settings/values.ts';
import type { ConfigSources } from './sources.ts';

export interface LoadConfigOptions extends ReadLayersOptions {
  /** A `servers.json` to read instead of the default ones. */
  readonly serversFile?: string | undefined;
  /** An assistant's folder, which contains the declaration of its server. */
  readonly assistantFolder?: string | undefined;
}

export async function loadConfig(options: LoadConfigOptions): Promise<Config> {
  const { places, layers, gate, warnings: notes } = await readLayers(options);
  const { project, home, homeFolder } = places;
  const globs = setting(layers, (config) => config.discoverGlobs) ?? DEFAULTS.discoverGlobs;
  const search = await findFiles(globs, project, homeFolder);
  const namesGlobs = layers.find(({ config }) => config.discoverGlobs !== undefined);
  gate.expect(search.files);
  const found = await readChildFiles(search.files, gate, namesGlobs?.origin !== undefined);
  const missing = [...search.warnings, ...found.missing];
  const { assistantFolder } = options;
  const serversFiles: ServersLayer[] = [];
  const named = namedServers(options, places, layers);
  for (const file of findServersFiles(named, project, home)) {
    serversFiles.push(await readServersFile(file, gate, named?.isProjects ?? false));
  }
  const userToml = await readUserToml(home);
  const warnings = [...notes, ...userToml.warnings];
  const warn = (sentence: string) => void warnings.push(sentence);
  const { env } = options;
  const general = resolveGeneral(layers, env, (file) => isUsersFile(file, places));
  const audit = resolveAudit(layers, places, warn);
  const hooks = resolveHooks(layers, places, general.environment);
  const users = await readUsersFiles({ layers, serversFiles }, places, gate);
  const descriptions = await readDescriptions(places, gate, declaringFiles(users));
  const sources = {
    project,
    home,
    homeFolder,
    env,
    layers,
    general,
    childFiles: found.children,
    foreignChildFiles: found.foreign,
    preferred:
      assistantFolder === undefined ? undefined : await readAssistantFolder(assistantFolder, gate),
    serversFiles,
    descriptions: descriptions.layers,
    derived: readDerived(home),
    gate,
  };
  const createRuling = await loadRuling(sources, users, places, env);
  const usersServers = gate.judge ? declaredIn(users, project) : NO_SERVERS;
  const resolved = await resolveChildren({ ...sources, createRuling, usersServers });
  const agents = resolveAgents(places, {
    env,
    files: agentFiles(layers, (file) => gate.covers(file), warn),
    toml: userToml.agents,
    warn,
  });
  if (layers.some(({ origin, config }) => origin !== undefined && config.agents !== undefined)) {
    gate.addFolders(Object.values(agents.formats).flatMap(({ namedFolders }) => namedFolders));
    gate.addFolders([dirname(agents.modelMapFile)]);
  }
  const tomlProblem = userToml.broken === undefined ? [] : [userToml.broken];
  const broken = [...found.broken, ...descriptions.broken, ...tomlProblem];
  const waiting = gate.judge?.waiting ?? 0;
  if (waiting > 0) {
    missing.push(describeWaiting(waiting));
    warn(describeWaiting(waiting));
  }
  if (gate.judge?.problem !== undefined) warn(gate.judge.problem);
  return {
    project,
    home,
    homeFolder,
    files: [...layers, ...serversFiles, ...descriptions.layers, userToml].flatMap(
      ({ file }) => file ?? [],
    ),
    children: resolved.children,
    ...(resolved.permissions && { permissions: resolved.permissions }),
    ...(found.lost.size > 0 && { lost: found.lost }),
    era: general.era,
    questionMs: general.questionMs,
    introspection: general.introspection,
    toolChanges: resolveToolChanges(layers, places),
    stopMs: general.stopMs,
    flipSuites: general.flipSuites,
    messageBytes: general.messageBytes,
    messageShape: general.messageShape,
    ...(general.maxMemoryMb !== undefined && { maxMemoryMb: general.maxMemoryMb }),
    agents,
    logging: resolveLogging(places, { env, toml: userToml.logging, warn }),
    ...(isShared(layers) ? {} : { shared: false }),
    ...(isWatched(layers, env, warn) ? {} : { watch: false }),
    soughtIn: {
      patterns: globs,
      files: [...namedMain(options, places), ...(named ? [named.file] : [])],
    },
    ...(broken.length > 0 && { broken }),
    ...(audit && { audit }),
    ...(hooks && { hooks }),
    ...(missing.length > 0 && { missing }),
    ...(options.openJudge && { gate }),
    warnings: [
      ...resolved.warnings,
      ...search.warnings,
      ...found.warnings,
      ...serversFiles.flatMap((file) => file.warnings),
      ...descriptions.warnings,
      ...warnings,
    ],
  };
}

/** Each file can only opt out. */
function isShared(layers: readonly Layer[]): boolean {
  return layers.every(({ config }) => config.shared !== false);
}

/** Each file and the environment can only opt out. */
function isWatched(
  layers: readonly Layer[],
  { SWITCHBOARD_WATCH: text }: NodeJS.ProcessEnv,
  warn: (sentence: string) => void,
): boolean {
  const isOn = text?.trim() ? BOOLEAN.fromText(text) : true;
  if (isOn === undefined) {
    warn(`SWITCHBOARD_WATCH must be ${BOOLEAN.allowed}. Its value is ignored.`);
  }
  return isOn !== false && layers.every(({ config }) => config.watch !== false);
}

/** The main file that a flag or a variable names, if it isn't in the usual place. */
function namedMain(
  { configFile, env }: LoadConfigOptions,
  { projectFile }: Places,
): readonly string[] {
  const isNamed = configFile || env['SWITCHBOARD_CONFIG'];
  return isNamed && projectFile !== undefined ? [projectFile] : [];
}

/** Undefined if no file restricts anything. */
async function loadRuling(
  sources: Omit<ConfigSources, 'usersServers' | 'createRuling'>,
  users: UsersFiles,
  places: Places,
  env: NodeJS.ProcessEnv,
): Promise<ConfigSources['createRuling']> {
  const isUsers = (file: string) => isUsersFile(file, places);
  // A project that names another servers.json doesn't override the user's own.
  const serversFiles = new Set([...sources.serversFiles, ...users.serversFiles]);
  const files = [
    ...fullLayers(sources.layers).map(
      ({ file, config: { permissions, environment, mcpServers = {}, suites = {} } }) => ({
        file,
        permissions,
        environment,
        keys: [...Object.values(mcpServers), ...Object.values(suites)],
      }),
    ),
    ...[...serversFiles].map(({ file, servers }) => ({ file, keys: Object.values(servers) })),
    ...[...sources.childFiles.values()].map(({ file, entry, original }) => ({
      file,
      keys: [entry, ...(original ? [original] : [])],
    })),
  ];
  if (!hasRestrictions(files, isUsers)) return undefined;
  const { Ruling } = await import('./settings/ruling.ts');
  const usersServers = declaredIn(users, places.project);
  const { layers, homeFolder, project } = sources;
  const { home, userFile } = places;
  const parts = {
    layers,
    project,
    homeFolder,
    home,
    usersFile: userFile ?? join(home, 'switchboard.config.json'),
    env,
    isUsersFile: isUsers,
    usersServers,
  };
  return (declarations) => new Ruling(parts, declarations);
}

const NO_SERVERS: UsersServers = new Map();

function declaredIn(users: UsersFiles, project: string): UsersServers {
  const declared = collectDeclarations({
    ...users,
    project,
    preferred: undefined,
    foreignChildFiles: [],
  });
  return new Map(
    [...declared].flatMap(([name, [first]]) => (first ? [[name, first] as const] : [])),
  );
}

function namedServers(
  { cwd, serversFile }: LoadConfigOptions,
  { project, homeFolder }: Places,
  layers: readonly Layer[],
): NamedFile | undefined {
  // A path on the command line is relative to the working directory, one in a file to the project.
  if (serversFile) {
    const file = resolve(cwd, expandHome(serversFile, homeFolder));
    return { file, by: '--servers', isProjects: false };
  }
  const layer = layers.find(({ config }) => config.serversFile !== undefined);
  if (layer?.config.serversFile === undefined) return undefined;
  const file = resolve(project, expandHome(layer.config.serversFile, homeFolder));
  const isProjects = layer.origin !== undefined;
  return { file, by: `"serversFile" in ${layer.file}`, isProjects };
}
