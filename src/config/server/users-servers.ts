// The servers that the user's own files declare, whatever a project's files say, and what a project would do to them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../base/object.ts';
import { pathInside } from '../../base/paths.ts';
import type { ChildConfig } from '../config.ts';
import { DEFAULTS } from '../defaults.ts';
import { type FoundChild, readChildFiles } from '../files/child-files.ts';
import type { Gate } from '../files/gate.ts';
import { findFiles } from '../files/globs.ts';
import { type Layer, setting } from '../files/layers.ts';
import { type Folders, isUsersFile } from '../files/places.ts';
import { readServersFile, type ServersLayer } from '../files/servers-file.ts';
import type { SuiteKeys } from '../schema/schema.ts';
import type { Declaration } from './command.ts';
import { usesRelativePath } from './cwd.ts';

/** By name. */
export type UsersServers = ReadonlyMap<string, Declaration>;

export interface UsersFiles {
  /** The user's main file, if there is one. */
  readonly layers: readonly Layer[];
  readonly childFiles: ReadonlyMap<string, FoundChild>;
  readonly serversFiles: readonly ServersLayer[];
}

interface ReadFiles {
  /** All main files, highest precedence first. */
  readonly layers: readonly Layer[];
  readonly serversFiles?: readonly ServersLayer[];
}

/** The user's files, also those that the project's settings leave out. Files that were read aren't read again. */
export async function readUsersFiles(
  read: ReadFiles,
  folders: Folders,
  gate: Gate,
): Promise<UsersFiles> {
  const isUsers = ({ file }: { readonly file: string }) => isUsersFile(file, folders);
  const layers = read.layers.filter(isUsers);
  const serversFile = join(folders.home, 'servers.json');
  const serversFiles = (read.serversFiles ?? []).filter(isUsers);
  const isMissing = !serversFiles.some(({ file }) => file === serversFile);
  if (isMissing && existsSync(serversFile)) {
    serversFiles.push(await readServersFile(serversFile, gate, false));
  }
  return { layers, childFiles: await findChildren(layers, folders, gate), serversFiles };
}

/** The default patterns point to the project, and usually match none of the user's files. */
async function findChildren(
  layers: readonly Layer[],
  folders: Folders,
  gate: Gate,
): Promise<ReadonlyMap<string, FoundChild>> {
  const { project, home, homeFolder } = folders;
  const globs = setting(layers, ({ discoverGlobs }) => discoverGlobs);
  if (globs === undefined && pathInside(project, home) === undefined) return new Map();
  const { files } = await findFiles(globs ?? DEFAULTS.discoverGlobs, project, homeFolder);
  const users = files.filter((file) => isUsersFile(file, folders));
  return (await readChildFiles(users, gate)).children;
}

/** The file that declares each server. */
export function declaringFiles({ layers, childFiles, serversFiles }: UsersFiles) {
  return new Map<string, string>([
    ...serversFiles.flatMap(({ file, servers }) =>
      Object.keys(servers).map((name): [string, string] => [name, file]),
    ),
    ...[...childFiles.values()].map(({ entry, file }): [string, string] => [entry.name, file]),
    ...layers.flatMap(({ file, config }) =>
      Object.keys(config.mcpServers ?? {}).map((name): [string, string] => [name, file]),
    ),
  ]);
}

/**
 * What `suites` in a project's file would do to a server of the user's; empty if that needs no approval. Contains no
 * text of the project.
 */
export function suiteTouches(name: string, keys: SuiteKeys, file: string): string[] {
  const { description, keywords, suiteName, assistant } = keys;
  const which = `your server ${JSON.stringify(name)} in ${file}`;
  const isTold = description !== undefined || keywords !== undefined;
  return [
    ...(isTold ? [describeTelling(name, file)] : []),
    ...(suiteName === undefined ? [] : [`renames ${which}`]),
    ...(assistant === undefined || assistant === false
      ? []
      : [describeAssistant(assistant, which)]),
  ];
}

export function describeTelling(name: string, file: string): string {
  return `describes your server ${JSON.stringify(name)} in ${file}`;
}

function describeAssistant(
  assistant: Exclude<SuiteKeys['assistant'], undefined | false>,
  which: string,
): string {
  const { baseUrl, apiKeyEnv } = assistant === true ? {} : assistant;
  const own = [...(baseUrl === undefined ? [] : ['address']), ...(apiKeyEnv ? ['key'] : [])];
  const more = own.length === 0 ? '' : ` with another ${own.join(' and ')}`;
  return `gives ${which} an assistant${more}`;
}

/** The keys that need an approval. */
export function onlyTouches({ description, keywords, suiteName, assistant }: SuiteKeys): SuiteKeys {
  const keys = { description, keywords, suiteName, ...(assistant !== false && { assistant }) };
  const defined = Object.entries(keys).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined);
}

/** The keys that need none. */
export function withoutTouches(keys: SuiteKeys): SuiteKeys {
  const touching = onlyTouches(keys);
  const others = Object.entries(keys).filter(([key]) => !Object.hasOwn(touching, key));
  return Object.fromEntries(others);
}

/** For `config check`: which files, and what happens until the user decides. */
export function explainTouch(file: string, touches: readonly string[]): string {
  return `${file}: It ${touches.join(', and ')}. Your server is used unchanged until you approve that. Run: switchboard trust`;
}

/** Everything about a server that an approval has to name if a project changes it. */
type Compared = Pick<
  ChildConfig,
  | 'name'
  | 'command'
  | 'remote'
  | 'cwd'
  | 'isCwdGiven'
  | 'description'
  | 'switchboardDescription'
  | 'suiteDescription'
  | 'suiteName'
  | 'keywords'
  | 'assistant'
  | 'behind'
>;

const TEXTS = [
  'description',
  'switchboardDescription',
  'suiteDescription',
  'suiteName',
  'keywords',
  'assistant',
] as const;

/** Whether a project's declaration starts the same server with the same values, and tells models nothing else. */
export function isSameDeclared(projects: Compared, users: Compared): boolean {
  if (projects.behind || users.behind) return false;
  const { command, remote, cwd } = projects;
  if (!isEqual(command, users.command) || !isEqual(remote, users.remote)) return false;
  const dependsOnFolder =
    projects.isCwdGiven || users.isCwdGiven || (command && usesRelativePath(command));
  if (dependsOnFolder && !remote && cwd !== users.cwd) return false;
  return TEXTS.every((key) => isEqual(projects[key], users[key]));
}

/** Names of variables and headers may come in any order. */
function isEqual(one: unknown, other: unknown): boolean {
  return sorted(one) === sorted(other);
}

function sorted(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

/** What replacing a server of the user's is called. */
export function describeReplacing(name: string, { origin }: Declaration): string {
  return `replaces your server ${JSON.stringify(name)} in ${origin}`;
}

/** The tool names a server may be listed under, as hosts see them. Long names are cut, so they may be equal. */
export function suiteNames(name: string, suiteName: string | undefined): string[] {
  const names = [`${name}_suite`, ...(suiteName === undefined ? [] : [suiteName])];
  return names.map((one) => one.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MOST_CHARS));
}

const MOST_CHARS = 41;

export function describeTaking(name: string, { origin }: Declaration): string {
  return `takes the tool name of your server ${JSON.stringify(name)} in ${origin}`;
}
