// Reads the whole configuration: the project's file, the user's file, the child files, servers.json,
// mcp-descriptions.json, config.toml and the environment. This is on the way to the first answer of every session, so it reads synchronously
// and loads nothing heavy unless a file asks for it.
import { resolve } from 'node:path';
import { SwitchboardError } from '../base/errors.ts';
import type { Config } from './config.ts';
import { DEFAULTS, LONGEST_MS } from './defaults.ts';
import { readAssistantFolder, readChildFiles } from './files/child-files.ts';
import { readConfigFile } from './files/files.ts';
import { expandHome, findFiles } from './files/globs.ts';
import { type Layer, setting } from './files/layers.ts';
import { findPlaces, type PlaceOptions, type Places } from './files/places.ts';
import {
  findServersFiles,
  type NamedFile,
  readServersFile,
  type ServersLayer,
} from './files/servers-file.ts';
import { readUserToml } from './files/user-toml.ts';
import { messageBytesOf, messageShapeOf, resolveChildren } from './resolve.ts';
import { checkConfigFile } from './schema/check.ts';
import { readDerived } from './server/derived-descriptions.ts';
import { readDescriptions } from './server/descriptions.ts';
import { resolveAgents } from './settings/agents.ts';
import { resolveLogging } from './settings/logging.ts';

export interface LoadOptions extends PlaceOptions {
  /** A `servers.json`, read instead of the usual ones. */
  readonly serversFile?: string | undefined;
  /** The folder of an assistant, whose server is declared in a file that is kept in it. */
  readonly assistantFolder?: string | undefined;
}

export async function loadConfig(options: LoadOptions): Promise<Config> {
  const places = findPlaces(options);
  const { project, home, homeFolder } = places;
  const layers = await readMainFiles(places);
  const globs = setting(layers, (config) => config.discoverGlobs) ?? DEFAULTS.discoverGlobs;
  const search = await findFiles(globs, project, homeFolder);
  const found = await readChildFiles(search.files);
  const missing = [...search.warnings, ...found.missing];
  const { assistantFolder } = options;
  const serversFiles: ServersLayer[] = [];
  for (const file of findServersFiles(namedServers(options, places, layers), project, home)) {
    serversFiles.push(await readServersFile(file));
  }
  const userToml = await readUserToml(home);
  const warnings = [...userToml.warnings];
  const warn = (sentence: string) => void warnings.push(sentence);
  const { env } = options;
  const descriptions = await readDescriptions(places);
  const settled = resolveChildren({
    project,
    homeFolder,
    layers,
    childFiles: found.children,
    meant: assistantFolder === undefined ? undefined : await readAssistantFolder(assistantFolder),
    serversFiles,
    descriptions: descriptions.layers,
    derived: readDerived(home),
    idleMs: usualIdleMs(env),
  });
  return {
    project,
    home,
    homeFolder,
    files: [...layers, ...serversFiles, ...descriptions.layers, userToml].flatMap(
      ({ file }) => file ?? [],
    ),
    children: settled.children,
    ...(found.lost.size > 0 && { lost: found.lost }),
    era: setting(layers, ({ era }) => era) ?? DEFAULTS.era,
    questionMs:
      setting(layers, ({ timeouts }) => timeouts?.questionMs) ?? DEFAULTS.timeouts.questionMs,
    stopMs: setting(layers, ({ timeouts }) => timeouts?.stopMs) ?? DEFAULTS.timeouts.stopMs,
    flipSuites: setting(layers, ({ flip }) => flip?.suites) ?? DEFAULTS.flipSuites,
    messageBytes: messageBytesOf(layers),
    messageShape: messageShapeOf(layers),
    agents: resolveAgents(places, {
      env,
      files: layers.map(({ config }) => config.agents ?? {}),
      toml: userToml.agents,
      warn,
    }),
    logging: resolveLogging(places, { env, toml: userToml.logging, warn }),
    ...(missing.length > 0 && { missing }),
    warnings: [
      ...settled.warnings,
      ...search.warnings,
      ...found.warnings,
      ...serversFiles.flatMap((file) => file.warnings),
      ...descriptions.warnings,
      ...warnings,
    ],
  };
}

/** The main files and what they say, strongest first. */
export async function readMainFiles({ projectFile, userFile }: Places): Promise<Layer[]> {
  const files = new Set([projectFile, userFile].filter((file) => file !== undefined));
  const layers: Layer[] = [];
  for (const file of files) {
    layers.push({ file, ...(await checkConfigFile(await readConfigFile(file))) });
  }
  return layers;
}

function namedServers(
  { cwd, serversFile }: LoadOptions,
  { project, homeFolder }: Places,
  layers: readonly Layer[],
): NamedFile | undefined {
  // What is typed is meant from where one stands, what is written in a file from the project.
  if (serversFile) {
    return { file: resolve(cwd, expandHome(serversFile, homeFolder)), by: '--servers' };
  }
  const said = layers.find(({ config }) => config.serversFile !== undefined);
  if (said?.config.serversFile === undefined) return undefined;
  const file = resolve(project, expandHome(said.config.serversFile, homeFolder));
  return { file, by: `"serversFile" in ${said.file}` };
}

/** What the environment says instead of the usual time; an empty variable says nothing. */
function usualIdleMs({ SWITCHBOARD_CHILD_IDLE_MS: text }: NodeJS.ProcessEnv): number | undefined {
  if (!text) return undefined;
  const ms = parseIdleMs(text);
  if (ms !== undefined) return ms;
  throw new SwitchboardError(
    'CONFIG_INVALID',
    `SWITCHBOARD_CHILD_IDLE_MS is not a number from 0 to ${LONGEST_MS}.`,
    {
      hint: 'It is the time in milliseconds after which servers that nobody uses are stopped; 0 is never.',
    },
  );
}

/** A time as typed; undefined for what timers cannot wait. */
export function parseIdleMs(text: string): number | undefined {
  const ms = text.trim() === '' ? Number.NaN : Number(text);
  return ms >= 0 && ms <= LONGEST_MS ? ms : undefined;
}
