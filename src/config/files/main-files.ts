// Reads the main files. The user's comes first, because it says how far projects are trusted. A project's file that
// came with a repository counts only as far as it's harmless, until the user approves it.
import { type Stats, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { type FileUser, ownershipProblem } from '../../base/ownership.ts';
import { codeOf } from '../../base/system-error.ts';
import {
  isWaiting,
  type OpenJudge,
  type Subject,
  TRUST_MODES,
  type TrustMode,
  type TrustSettings,
} from '../judge.ts';
import { type CheckedConfig, checkConfigFile } from '../schema/check.ts';
import type { ConfigFile, SuiteKeys } from '../schema/schema.ts';
import {
  declaringFiles,
  explainTouch,
  onlyTouches,
  readUsersFiles,
  suiteTouches,
  withoutTouches,
} from '../server/users-servers.ts';
import { choice } from '../settings/values.ts';
import {
  isScript,
  MAX_CONFIG_BYTES,
  parseSource,
  type RunScript,
  readConfigFile,
  runHere,
} from './files.ts';
import { Gate, type GatedText, ignoredFile, isForeignUnread, isUnusable } from './gate.ts';
import { expandHome } from './globs.ts';
import type { Layer } from './layers.ts';
import { findPlaces, type PlaceOptions, type Places } from './places.ts';

export interface ReadLayersOptions extends PlaceOptions {
  /** `--trust`; takes precedence over `SWITCHBOARD_TRUST` and the user's file. */
  readonly trust?: string | undefined;
  /** Judges the project's files. Without it, all are trusted. */
  readonly openJudge?: OpenJudge | undefined;
  /** Runs scripts. By default, this process does. */
  readonly runScript?: RunScript | undefined;
}

export interface MainFiles {
  readonly places: Places;
  /** Highest precedence first. */
  readonly layers: readonly Layer[];
  readonly gate: Gate;
  readonly warnings: readonly string[];
}

export async function readLayers(options: ReadLayersOptions): Promise<MainFiles> {
  const places = findPlaces(options);
  const { projectFile, userFile } = places;
  const { runScript: run = runHere } = options;
  const warnings: string[] = [];
  const warn = (sentence: string) => void warnings.push(sentence);
  const chosen = chosenMode(options, warn);
  if (options.openJudge && chosen !== 'all') checkHome(places);
  const user = userFile === undefined ? [] : [await readOwn(userFile, run)];
  const gate = new Gate(options.openJudge, trustSettings(chosen, user[0], places), places);
  const isSeparate = projectFile !== undefined && projectFile !== userFile;
  const users = async () => declaringFiles(await readUsersFiles({ layers: user }, places, gate));
  const project = isSeparate
    ? await readProjects(projectFile, { gate, users, warn, run })
    : undefined;
  return { places, layers: project ? [project, ...user] : user, gate, warnings };
}

async function readOwn(file: string, run: RunScript): Promise<Layer> {
  return { file, ...(await checkConfigFile(await readConfigFile(file, run))) };
}

const MODE = choice(...TRUST_MODES);

function chosenMode(
  { trust, env }: ReadLayersOptions,
  warn: (sentence: string) => void,
): TrustMode | undefined {
  if (trust !== undefined) {
    const mode = MODE.fromText(trust);
    if (mode) return mode;
    throw new SwitchboardError('USAGE', `Invalid value for --trust: "${trust}".`, {
      hint: `Use one of: ${TRUST_MODES.join(', ')}.`,
    });
  }
  const { SWITCHBOARD_TRUST: text } = env;
  if (!text?.trim()) return undefined;
  const mode = MODE.fromText(text);
  if (!mode) warn(`SWITCHBOARD_TRUST must be ${MODE.allowed}. Its value is ignored.`);
  return mode;
}

function trustSettings(
  chosen: TrustMode | undefined,
  user: Layer | undefined,
  { homeFolder }: Places,
): TrustSettings {
  const { mode = 'repository', directories = [], elicitation } = user?.config.trust ?? {};
  return {
    mode: chosen ?? mode,
    elicitation,
    directories: directories.map((folder) => resolve(homeFolder, expandHome(folder, homeFolder))),
  };
}

/** Files in the home that decide what runs, besides the main file. */
const HOME_FILES = ['servers.json', 'trust.json', 'config.toml', 'mcp-descriptions.json'];

/** Whoever can write there decides what runs. `statOf` and `user` are for tests. */
export function checkHome(
  { home, userFile }: Pick<Places, 'home' | 'userFile'>,
  statOf: (path: string) => Stats | undefined = statIfAny,
  user?: FileUser,
): void {
  const files = HOME_FILES.map((name) => join(home, name));
  for (const path of [home, ...(userFile === undefined ? [] : [userFile]), ...files]) {
    const stats = statOf(path);
    const problem = stats && ownershipProblem(stats, user);
    if (problem === undefined) continue;
    throw new SwitchboardError('CONFIG_INVALID', `Refusing to use ${path}. ${problem}`, {
      hint: 'Fix its owner and permissions, set SWITCHBOARD_HOME to a folder of your own, or set SWITCHBOARD_TRUST=all.',
    });
  }
}

function statIfAny(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined; // the home is a file, or can't be read: nothing of it is used
  }
}

interface ProjectOptions {
  readonly gate: Gate;
  /** The files that declare the user's servers, by name. Most projects don't need them. */
  readonly users: () => Promise<ReadonlyMap<string, string>>;
  readonly warn: (sentence: string) => void;
  readonly run: RunScript;
}

async function readProjects(file: string, options: ProjectOptions): Promise<Layer | undefined> {
  const { gate, warn } = options;
  const read = await gate.read(file, { maxBytes: MAX_CONFIG_BYTES });
  if (isUnusable(read) || (await isForeignUnread(file, read, gate))) {
    warn(ignoredFile(file, read));
    return undefined;
  }
  // A script that couldn't be judged never runs.
  if ('problem' in read && gate.covers(file)) await parseSource(file, read);
  if (isScript(file)) return readScript(file, read, options);
  const origin = 'text' in read ? read.origin : undefined;
  try {
    const checked = await checkConfigFile(await parseSource(file, read));
    if (origin === undefined) return { file, ...checked };
    if (checked.config.trust !== undefined) {
      warn(`${file}: "trust" is ignored here. Set it in your own configuration.`);
    }
    const basis = 'text' in read ? [read] : undefined;
    return await limited(
      { file, origin, basis, ...withApprovedHooks(checked, file, origin, gate) },
      options,
    );
  } catch (error) {
    if (origin !== 'foreign' || !(error instanceof SwitchboardError)) throw error;
    warn(ignoredFile(file, read));
    return undefined;
  }
}

/**
 * Once it runs, it could do anything, so what it exports needs no further approval, except for hooks and changes to the
 * user's own servers.
 */
async function readScript(
  file: string,
  read: GatedText,
  options: ProjectOptions,
): Promise<Layer | undefined> {
  const { gate, run } = options;
  if ('problem' in read || read.origin === undefined) return readOwn(file, run);
  const { text, origin } = read;
  const subject = { kind: 'script', name: basename(file), file, origin } as const;
  if (gate.decide({ ...subject, content: () => ({ text }) }) !== 'approved') return undefined;
  const source = { file, value: await run({ file, text, origin }), text: undefined };
  const checked = withApprovedHooks(await checkConfigFile(source), file, origin, gate);
  const suites = Object.entries(checked.config.suites ?? {});
  const judged = await judgeSuites({ file, origin, ...checked }, suites, options);
  const limits = judged && { config: judged.used, full: checked };
  return { file, script: origin, ...checked, ...limits };
}

/**
 * Without its hooks, unless they are approved. They see every call and can change it, so they take the user's decision
 * even if the file was created on this machine.
 */
function withApprovedHooks(
  checked: CheckedConfig,
  file: string,
  origin: Subject['origin'],
  gate: Gate,
): CheckedConfig {
  const { hooks, ...config } = checked.config;
  if (!hooks?.beforeCall?.length && !hooks?.afterCall?.length) return checked;
  const subject = { kind: 'hooks', name: 'hooks', file, origin, needsDecision: true } as const;
  const isApproved = gate.decide({ ...subject, content: () => hooks }) === 'approved';
  return isApproved ? checked : { ...checked, config };
}

type ProjectLayer = Layer & { readonly origin: NonNullable<Layer['origin']> };

/**
 * Without its settings, unless they are approved. Servers are judged one by one, together with their own `suites`,
 * which therefore count only for them.
 */
async function limited(layer: ProjectLayer, options: ProjectOptions): Promise<Layer> {
  const { file, origin, invalidServers, invalidSuites } = layer;
  const full: CheckedConfig = { config: layer.config, invalidServers, invalidSuites };
  const judged = await judgeSuites(layer, suitesOfOthers(layer.config), options);
  const settings = settingsIn(judged?.asked ?? layer.config);
  const subject = { kind: 'settings', name: basename(file), file, origin } as const;
  const isApproved =
    settings === undefined ||
    options.gate.decide({ ...subject, content: () => settings, basis: layer.basis }) === 'approved';
  const config = judged?.used ?? layer.config;
  if (isApproved && config.suites === undefined) return layer;
  if (!isApproved) {
    const users = judged && { suites: judged.approved };
    return {
      ...layer,
      config: { ...harmlessKeys(config), ...users },
      invalidSuites: new Map(),
      full,
    };
  }
  const invalid = new Map([...invalidSuites].filter(([name]) => !isOwn(config, name)));
  const suites = Object.fromEntries(suitesOfOthers(config));
  return { ...layer, config: { ...config, suites }, invalidSuites: invalid, full };
}

interface JudgedSuites {
  /** The configuration without parts that need their own approval. */
  readonly used: ConfigFile;
  /** The configuration without anything that needs an approval of its own. */
  readonly asked: ConfigFile;
  /** What was approved. */
  readonly approved: NonNullable<ConfigFile['suites']>;
}

/**
 * Judges what `suites` says about the user's own servers: a file can't describe or rename them, or give them an
 * assistant, without an approval that says so. Undefined if it says nothing of the kind.
 */
async function judgeSuites(
  { file, origin, config }: ProjectLayer,
  suites: readonly (readonly [string, SuiteKeys])[],
  { gate, users, warn }: ProjectOptions,
): Promise<JudgedSuites | undefined> {
  if (!suites.some(([name, keys]) => suiteTouches(name, keys, file).length > 0)) return undefined;
  const files = await users();
  const used = { ...config.suites };
  const asked = { ...config.suites };
  const approved: NonNullable<ConfigFile['suites']> = {};
  for (const [name, keys] of suites) {
    const usersFile = files.get(name);
    const touches = usersFile === undefined ? [] : suiteTouches(name, keys, usersFile);
    if (touches.length === 0) continue;
    const others = withoutTouches(keys);
    if (Object.keys(others).length > 0) asked[name] = others;
    else delete asked[name];
    const content = () => ({ suites: { [name]: onlyTouches(keys) } });
    const verdict = gate.decide({ kind: 'settings', name, file, origin, content, touches });
    if (verdict === 'approved') {
      approved[name] = onlyTouches(keys);
      continue;
    }
    used[name] = others;
    if (isWaiting(verdict)) warn(explainTouch(file, touches));
  }
  return { used: { ...config, suites: used }, asked: { ...config, suites: asked }, approved };
}

function isOwn({ mcpServers = {} }: ConfigFile, name: string): boolean {
  return Object.hasOwn(mcpServers, name);
}

function suitesOfOthers(config: ConfigFile) {
  return Object.entries(config.suites ?? {}).filter(([name]) => !isOwn(config, name));
}

/** Keys that start nothing, reach nobody, and change nothing that models read. Hooks are there only if approved. */
function harmlessKeys(config: ConfigFile): ConfigFile {
  const { mcpServers, timeouts, limits, introspection, flip, era, results, hooks } = config;
  const { shared, watch } = config;
  const messages = { timeouts, limits, introspection, flip, era, results };
  const kept = { mcpServers, ...messages, shared, watch, hooks };
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
}

/** Everything else, except `suites` of the file's own servers; undefined if there is nothing. */
function settingsIn(config: ConfigFile): object | undefined {
  const harmless = harmlessKeys(config);
  const { $schema: _schema, trust: _trust, suites: _suites, ...others } = config;
  const left = Object.entries(others).filter(
    ([key, value]) => value !== undefined && !Object.hasOwn(harmless, key),
  );
  const suites = suitesOfOthers(config);
  if (left.length === 0 && suites.length === 0) return undefined;
  const named = suites.length > 0 && { suites: Object.fromEntries(suites) };
  return { ...Object.fromEntries(left), ...named };
}
