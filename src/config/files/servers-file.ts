// `servers.json`: servers by name, the simplest way to declare them. Their `show` is `flip`: they are activated on
// demand, and started beforehand.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import type { Basis, Subject } from '../judge.ts';
import { type CheckedServers, checkServersFile } from '../schema/check.ts';
import type { ServerEntry } from '../schema/schema.ts';
import { MAX_CONFIG_BYTES, parseSource, type Source } from './files.ts';
import { type Gate, ignoredFile, isForeignUnread, isUnusable } from './gate.ts';
import type { KeyPath } from './position.ts';

export interface ServersLayer extends CheckedServers {
  readonly file: string;
  /** The path to the servers in the file: the top level, or `mcpServers`. */
  readonly where: KeyPath;
  readonly warnings: readonly string[];
  /** Undefined for the user's files. */
  readonly origin?: Subject['origin'] | undefined;
  /** The file's text. */
  readonly basis?: Basis | undefined;
}

export interface NamedFile {
  readonly file: string;
  /** The flag or key that names it. */
  readonly by: string;
  /** Whether a file of the project names it. */
  readonly isProjects: boolean;
}

/** The file that was named, or the default ones that exist; highest precedence first. */
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
  throw new SwitchboardError('CONFIG_INVALID', `File not found: ${named.file}.`, {
    hint: `Correct ${named.by}, or remove it.`,
  });
}

/** Always parsed as JSON and never run: this file often belongs to another program. */
export async function readServersFile(
  file: string,
  gate: Gate,
  isNamed: boolean,
): Promise<ServersLayer> {
  const read = await gate.read(file, { maxBytes: MAX_CONFIG_BYTES, isNamed });
  const origin = 'text' in read ? read.origin : undefined;
  try {
    const basis = 'text' in read ? [read] : undefined;
    const parsed = await parseServersFile(await parseSource(file, read));
    // The names in them are the project's text.
    const warnings = origin === 'foreign' ? [] : parsed.warnings;
    return { ...parsed, warnings, origin, basis };
  } catch (error) {
    const isIgnored =
      origin === 'foreign' || isUnusable(read) || (await isForeignUnread(file, read, gate));
    if (!isIgnored || !(error instanceof SwitchboardError)) throw error;
    return {
      file,
      where: [],
      servers: {},
      invalid: new Map(),
      warnings: [ignoredFile(file, read)],
    };
  }
}

async function parseServersFile({ file, value, text }: Source): Promise<ServersLayer> {
  const { servers, where } = unwrapServers(value);
  return {
    file,
    ...(await checkServersFile({ file, value: servers, text }, where)),
    where,
    warnings: where.length > 0 && isObject(value) ? misplacedServers(file, value) : [],
  };
}

/** In a file copied from a host, the servers are under `mcpServers`. */
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

/** Whether it is one server's entry, and not servers by name, one of which may be named `command` or `url`. */
function isEntry({ command, url }: Record<string, unknown>): boolean {
  const isCommand = typeof command === 'string' || (isObject(command) && 'cmd' in command);
  return isCommand || typeof url === 'string';
}

/** Servers next to `mcpServers` were probably meant to be inside it. */
function misplacedServers(file: string, value: Record<string, unknown>): string[] {
  return Object.entries(value)
    .filter(([key, beside]) => key !== 'mcpServers' && isObject(beside) && isEntry(beside))
    .map(
      ([name]) =>
        `${file}: ${JSON.stringify(name)} is next to "mcpServers" instead of inside it (ignored).`,
    );
}

/**
 * Supports plain `$VAR` in addition to `${VAR}`, as is common in these files. An unset variable is left as written,
 * because `$` has many other uses.
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

/** Matches references with braces first, so their content is left alone. */
const VARIABLE = /\$\{[^}]*\}|(?<!\$)\$([A-Za-z_]\w*)/g;

function rewrite<T>(value: T): T {
  if (typeof value !== 'string') return value;
  return value.replace(VARIABLE, (written: string, plain?: string) =>
    plain === undefined ? written : `\${${plain}:-${written}}`,
  ) as T;
}
