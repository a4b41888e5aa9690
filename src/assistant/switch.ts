// Switches the assistant of a server on and off. A server with a folder of its own gets files in it
// (install/assistant-folder.ts); any other a key under `suites`, and the role that the library has for
// it in `mcp-descriptions.json`.
import { dirname } from 'node:path';
import { SwitchboardError } from '../base/errors.ts';
import {
  changeUse,
  chooseOwner,
  type Change as FileChange,
  withdrawUse,
} from '../config/change.ts';
import { resolveCommand } from '../config/command.ts';
import type { ChildConfig, Config } from '../config/config.ts';
import { DEFAULTS } from '../config/defaults.ts';
import { type Layer, suiteOf } from '../config/layers.ts';
import type { Places } from '../config/places.ts';
import { resolveRemote } from '../config/remote.ts';
import { withdrawRole, writeRole } from '../config/role.ts';
import { formatPath } from '../config/wording.ts';
import {
  hasAssistantFolder,
  ownEntryOf,
  switchOff,
  switchOn,
} from '../install/assistant-folder.ts';
import { keysFor } from '../install/assistant-texts.ts';
import type { Change } from '../install/disk.ts';
import { findInLibrary, type Known } from './library.ts';

export interface AssistantState {
  readonly name: string;
  readonly isOn: boolean;
  /** What switches it on, or would: files in the server's folder, or a key of the configuration. */
  readonly way: 'folder' | 'configuration';
  readonly origin: string;
}

export interface SwitchRequest {
  readonly child: ChildConfig;
  readonly config: Config;
  readonly places: Places;
  /** The main files, strongest first. */
  readonly layers: readonly Layer[];
  /** The address of our runtime. */
  readonly runtime: string;
  readonly dryRun: boolean;
  /** Reads the configuration again. */
  readonly reload: () => Promise<ChildConfig>;
}

export interface Switched {
  readonly changes: readonly Change[];
  /** Files of the user's that were in the way, and are left as they are. */
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
  if (state.way === 'configuration') {
    return { changes: state.isOn ? [] : await writeIntoFiles(request), kept: [] };
  }
  if (!state.isOn) await refuseWhatItWouldNotKnow(request);
  const role = child.role ?? (await findInLibrary(await originalOf(child)))?.claude;
  const options = { file: child.origin, home: places.home, dryRun };
  return switchOn({ ...options, role: role && `${role.trim()}\n`, runtime });
}

export async function switchAssistantOff(request: SwitchRequest): Promise<Switched> {
  const { child, config, places, dryRun } = request;
  const folder = isInOwnFile(child, config)
    ? await switchOff({ file: child.origin, home: places.home, dryRun })
    : { changes: [], kept: [] };
  const changes = child.assistant ? await takeOutOfFiles(request) : [];
  return { changes: [...folder.changes, ...changes], kept: folder.kept };
}

/** Whether the server is declared by a file in its own folder, not by one that lists servers. */
function isInOwnFile({ origin }: ChildConfig, { files }: Config): boolean {
  return !files.includes(origin);
}

/** Behind an assistant it is the original that tells which server it is. */
async function originalOf({ name, origin, cwd }: ChildConfig): Promise<Known> {
  const entry = await ownEntryOf(origin);
  const declaration = { source: 'child-file', origin, entry, folder: dirname(origin) } as const;
  const remote = resolveRemote(name, declaration);
  return {
    name,
    command: resolveCommand(declaration, cwd),
    remote: remote instanceof SwitchboardError ? undefined : remote,
  };
}

async function writeIntoFiles(request: SwitchRequest): Promise<Change[]> {
  const { child, places, layers, dryRun } = request;
  const owner = chooseOwner(child, ON, places, layers);
  const found = child.role === undefined ? await findInLibrary(child) : undefined;
  const role = found && [
    await writeRole(child.name, found.claude, owner, { folders: places, dryRun }),
  ];
  const use = await changeUse(child, ON, places, layers, undefined, { dryRun });
  return [...(role ?? []), use].flatMap(tell);
}

const ON = { assistant: true };

async function takeOutOfFiles(request: SwitchRequest): Promise<Change[]> {
  const { child, places, layers, dryRun, reload } = request;
  const withdrawn = await withdrawUse(child, ON, places, layers, { dryRun });
  const isStillOn = dryRun ? withdrawn.length === 0 : Boolean((await reload()).assistant);
  // Said where the server is declared: that stays as it is, and is overruled.
  const overruled = isStillOn
    ? [await changeUse(child, { assistant: false }, places, layers, undefined, { dryRun })]
    : [];
  const found = await findInLibrary(child);
  const roles =
    found && (await withdrawRole(child.name, found.claude, { folders: places, dryRun }));
  return [...withdrawn, ...overruled, ...(roles ?? [])].flatMap(tell);
}

function tell({ file, isChanged, isRemoved, backup }: FileChange): Change[] {
  if (!isChanged) return [];
  return [
    ...(backup === undefined ? [] : [{ action: 'backup' as const, path: file, to: backup }]),
    { action: isRemoved ? 'remove' : 'write', path: file },
  ];
}

/**
 * The assistant of a folder runs by itself and reads that folder alone. What the main files say about
 * the server's tools and surroundings would not hold behind it.
 */
async function refuseWhatItWouldNotKnow({ child, layers }: SwitchRequest): Promise<void> {
  const { name, origin, environment } = child;
  const exposing = layers.find(({ config }) => suiteOf(config, name).expose !== undefined);
  const own = (await ownEntryOf(origin)).environment ?? DEFAULTS.environment;
  const [key, says] = exposing
    ? ['expose', `${formatPath(['suites', name, 'expose'])} in ${exposing.file}`]
    : ['environment', `"environment": "${environment}", which another file sets for it`];
  if (!exposing && own === environment) return;
  throw new SwitchboardError(
    'CONFIG_NOT_CHANGED',
    `The assistant of server "${name}" would not keep to ${says}.`,
    {
      hint: `Write "${key}" into ${origin}, which it reads; or put ${keysFor(name)} into switchboard.config.json.`,
      data: { child: name },
    },
  );
}
