// Switches a server's assistant on and off. A server with its own folder gets files there
// (install/assistant-folder.ts); any other gets a key under `suites`, and its role from the library in
// `mcp-descriptions.json`.
import { basename, dirname, relative } from 'node:path';
import { SwitchboardError } from '../base/errors.ts';
import { type ConfigChange, changeUse, chooseOwner, revertUse } from '../config/change/change.ts';
import { revertRole, writeRole } from '../config/change/role.ts';
import type { ChildConfig, Config } from '../config/config.ts';
import { findConfigFile } from '../config/files/files.ts';
import { type Layer, suiteOf } from '../config/files/layers.ts';
import type { Places } from '../config/files/places.ts';
import { formatPath } from '../config/schema/wording.ts';
import { resolveCommand } from '../config/server/command.ts';
import { resolveRemote } from '../config/server/remote.ts';
import {
  hasAssistantFolder,
  ownEntryOf,
  switchOff,
  switchOn,
} from '../install/assistant-folder.ts';
import { keysFor } from '../install/assistant-texts.ts';
import type { Change } from '../install/disk.ts';
import { checkModel } from './choose.ts';
import { findInLibrary, type KnownServer } from './library.ts';
import { settleAssistant } from './settings.ts';

export interface AssistantState {
  readonly name: string;
  readonly isOn: boolean;
  /** How it's switched on: files in the server's folder, or a key in the configuration. */
  readonly way: 'folder' | 'configuration';
  readonly origin: string;
}

export interface SwitchRequest {
  readonly child: ChildConfig;
  readonly config: Config;
  readonly places: Places;
  /** The main files, highest precedence first. */
  readonly layers: readonly Layer[];
  /** The URL of our runtime. */
  readonly runtime: string;
  readonly dryRun: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** Reads the configuration again; undefined if the server is gone or renamed. */
  readonly reload: () => Promise<ChildConfig | undefined>;
}

export interface Switched {
  readonly changes: readonly Change[];
  /** The user's own files that were in the way and stay untouched. */
  readonly kept: readonly string[];
}

export async function assistantOf(child: ChildConfig, config: Config): Promise<AssistantState> {
  const { name, origin } = child;
  const hasFolder = isInOwnFile(child, config);
  const isInFolder = hasFolder && (await hasAssistantFolder(origin));
  return {
    name,
    isOn: isInFolder || Boolean(child.assistant),
    way: hasFolder && (isInFolder || !child.assistant) ? 'folder' : 'configuration',
    origin,
  };
}

export async function switchAssistantOn(request: SwitchRequest): Promise<Switched> {
  const { child, config, places, runtime, dryRun } = request;
  const state = await assistantOf(child, config);
  if (!state.isOn) refuseWithoutModel(request);
  if (state.way === 'configuration') {
    const role = await writeRoleFromLibrary(request);
    const use = state.isOn ? [] : await writeUse(request);
    return { changes: [...role, ...use], kept: [] };
  }
  if (!state.isOn) refuseIgnoredSettings(request);
  const role = child.role ?? (await findInLibrary(await originalOf(child)))?.claude;
  const { home, project } = places;
  const options = { file: child.origin, home, project, dryRun };
  return switchOn({ ...options, role: role && `${role.trim()}\n`, runtime });
}

export async function switchAssistantOff(request: SwitchRequest): Promise<Switched> {
  const { child, config, dryRun } = request;
  const { home, project } = request.places;
  const folder = isInOwnFile(child, config)
    ? await switchOff({ file: child.origin, home, project, dryRun })
    : { changes: [], kept: [] };
  const changes = child.assistant ? await takeOutOfFiles(request) : [];
  return { changes: [...folder.changes, ...changes], kept: folder.kept };
}

/** Without a model, the server would stop working. */
function refuseWithoutModel({ child: { name }, layers, env }: SwitchRequest): void {
  // Settings in the files count as soon as it's switched on.
  const written = layers.map(({ config }) => suiteOf(config, name).assistant);
  const said = written.find((assistant) => typeof assistant === 'object');
  try {
    checkModel(settleAssistant(said, env), env);
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    const { code, message, hint = '' } = error;
    throw new SwitchboardError(
      code,
      `The assistant for server "${name}" was not turned on. ${message}`,
      {
        hint: `${hint} If only your host has the key, also set it for this command.`,
        cause: error,
        data: { child: name },
      },
    );
  }
}

/** Whether the file in the server's own folder declares it. */
function isInOwnFile({ origin }: ChildConfig, { files }: Config): boolean {
  return basename(origin) === '.mcp.json' && !files.includes(origin);
}

/** Behind an assistant, only the original file identifies the server. */
async function originalOf({ name, origin, cwd }: ChildConfig): Promise<KnownServer> {
  const entry = await ownEntryOf(origin);
  const declaration = { source: 'child-file', origin, entry, folder: dirname(origin) } as const;
  const remote = resolveRemote(name, declaration);
  return {
    name,
    command: resolveCommand(declaration, cwd),
    remote: remote instanceof SwitchboardError ? undefined : remote,
  };
}

/** Only if the assistant has no role yet. The user can change it. */
async function writeRoleFromLibrary(request: SwitchRequest): Promise<Change[]> {
  const { child, places, layers, dryRun } = request;
  const hasRole = child.role !== undefined || child.assistant?.role !== undefined;
  const found = hasRole ? undefined : await findInLibrary(child.behind ?? child);
  if (!found) return [];
  const owner = chooseOwner(child, ON, places, layers);
  return tell(await writeRole(child.name, found.claude, owner, { folders: places, dryRun }));
}

async function writeUse({ child, places, layers, dryRun }: SwitchRequest): Promise<Change[]> {
  return tell(await changeUse(child, ON, places, layers, undefined, { dryRun }));
}

const ON = { assistant: true };

async function takeOutOfFiles(request: SwitchRequest): Promise<Change[]> {
  const { child, places, layers, dryRun, reload } = request;
  const withdrawn = await revertUse(child, ON, places, layers, { dryRun });
  const isStillOn = dryRun ? withdrawn.length === 0 : Boolean((await reload())?.assistant);
  // The server's declaration switches it on. It stays unchanged and is overridden.
  const overriding = isStillOn
    ? [await changeUse(child, { assistant: false }, places, layers, undefined, { dryRun })]
    : [];
  const found = await findInLibrary(child.behind ?? child);
  const roles = found && (await revertRole(child.name, found.claude, { folders: places, dryRun }));
  return [...withdrawn, ...overriding, ...(roles ?? [])].flatMap(tell);
}

function tell({ file, isChanged, isRemoved, backup }: ConfigChange): Change[] {
  if (!isChanged) return [];
  return [
    ...(backup === undefined ? [] : [{ action: 'backup' as const, path: file, to: backup }]),
    { action: isRemoved ? 'remove' : 'write', path: file },
  ];
}

/**
 * Any host can start the assistant in a folder. It finds the project by the usual location of such folders,
 * so settings elsewhere about the server's tools and environment would apply only if we start it.
 */
function refuseIgnoredSettings({ child, layers, places }: SwitchRequest): void {
  const { name, origin } = child;
  const isHidden = ({ file }: Layer) =>
    file === places.projectFile && !findsProject(origin, places);
  const said = layers.filter(isHidden).flatMap(({ file, config }) => {
    const { expose, environment } = suiteOf(config, name);
    const words = [
      { key: 'environment', path: ['suites', name, 'environment'], says: environment },
      { key: 'environment', path: ['environment'], says: config.environment },
      { key: 'expose', path: ['suites', name, 'expose'], says: expose },
    ];
    return words.flatMap(({ key, path, says }) => (says === undefined ? [] : { key, path, file }));
  });
  const [first] = said;
  if (!first) return;
  throw new SwitchboardError(
    'CONFIG_NOT_CHANGED',
    `If another host starts the assistant for server "${name}" from its folder, ${formatPath(first.path)} in ${first.file} would have no effect.`,
    {
      hint: `Set "${first.key}" in ${origin} instead, or put ${keysFor(name)} in switchboard.config.json, which needs no files.`,
      data: { child: name },
    },
  );
}

function findsProject(origin: string, { project, projectFile }: Places): boolean {
  const isUsual = /^(?:\.switchboard[\\/])?mcps[\\/][^\\/]+$/.test(
    relative(project, dirname(origin)),
  );
  return isUsual && projectFile === findConfigFile(project);
}
