// `servers.json`: servers by name and nothing else, the simplest way to declare them. They are
// switched on and off while one works (`show` is `flip`), and warmed up beforehand.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import { type CheckedServers, checkServersFile } from '../schema/check.ts';
import type { ServerEntry } from '../schema/schema.ts';
import { readJsonFile } from './files.ts';
import type { KeyPath } from './position.ts';

/** A `servers.json` and what is in it. */
export interface ServersLayer extends CheckedServers {
  readonly file: string;
  /** Where in the file they stand: at its top, or one level deeper. */
  readonly where: KeyPath;
  readonly warnings: readonly string[];
}

export interface NamedFile {
  readonly file: string;
  /** What names it: a flag, or a key of a file. */
  readonly by: string;
}

/** The files to read, strongest first: the one that was named, or those at the usual places. */
export function findServersFiles(
  named: NamedFile | undefined,
  project: string,
  home: string,
): string[] {
  if (named === undefined) {
    const places = [join(project, '.switchboard', 'servers.json'), join(home, 'servers.json')];
    return [...new Set(places)].filter((file) => existsSync(file));
  }
  if (existsSync(named.file)) return [named.file];
  throw new SwitchboardError('CONFIG_INVALID', `There is no file ${named.file}.`, {
    hint: `${named.by} names it. Correct it, or leave it out.`,
  });
}

/** Only ever JSON: this file is often another program's, and beside it lie scripts. */
export async function readServersFile(file: string): Promise<ServersLayer> {
  const { value, text } = await readJsonFile(file);
  const { servers, where } = unwrapServers(value);
  return {
    file,
    ...(await checkServersFile({ file, value: servers, text }, where)),
    where,
    warnings: where.length > 0 && isObject(value) ? strandedServers(file, value) : [],
  };
}

/** In a host's file, pasted whole, the servers are one level deeper. */
export function unwrapServers(value: unknown): {
  readonly servers: unknown;
  readonly where: readonly string[];
} {
  const inner = isObject(value) ? value['mcpServers'] : undefined;
  const isEntryItself = isObject(inner) && isEntry(inner);
  return inner !== undefined && !isEntryItself
    ? { servers: inner, where: ['mcpServers'] }
    : { servers: value, where: [] };
}

/** Whether it describes one server. With servers by name, one may be called `command` or `url`. */
function isEntry({ command, url }: Record<string, unknown>): boolean {
  const isCommand = typeof command === 'string' || (isObject(command) && 'cmd' in command);
  return isCommand || typeof url === 'string';
}

/** Servers beside `mcpServers` were surely meant to be inside. */
function strandedServers(file: string, value: Record<string, unknown>): string[] {
  return Object.entries(value)
    .filter(([key, beside]) => key !== 'mcpServers' && isObject(beside) && isEntry(beside))
    .map(([name]) => `${file}: ${JSON.stringify(name)} stands beside mcpServers and is not read.`);
}

/**
 * The entry with plain `$VAR` as good as `${VAR}` in what is filled in, as is the custom in these
 * files. One that is not set stays as it is written: `$` has many other uses.
 */
export function withPlainVariables(entry: ServerEntry): ServerEntry {
  const { command, url, headers } = entry;
  return {
    ...entry,
    ...withPlainArguments(entry),
    ...(typeof command === 'string' && { command: rewrite(command) }),
    ...(typeof command === 'object' && {
      command: { ...command, cmd: rewrite(command.cmd), ...withPlainArguments(command) },
    }),
    ...(url !== undefined && { url: rewrite(url) }),
    ...(headers && { headers: rewriteValues(headers) }),
  };
}

function withPlainArguments({ args, env }: Pick<ServerEntry, 'args' | 'env'>) {
  return {
    ...(args && { args: args.map((arg) => rewrite(arg)) }),
    ...(env && { env: rewriteValues(env) }),
  };
}

function rewriteValues<T>(values: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, rewrite(value)]));
}

/** References with braces are found first, so that what is inside them is left alone. */
const VARIABLE = /\$\{[^}]*\}|(?<!\$)\$([A-Za-z_]\w*)/g;

function rewrite<T>(value: T): T {
  if (typeof value !== 'string') return value;
  return value.replace(VARIABLE, (written: string, plain?: string) =>
    plain === undefined ? written : `\${${plain}:-${written}}`,
  ) as T;
}
