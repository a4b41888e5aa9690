// `servers.json`: servers by name and nothing else, the simplest way to declare them. They are
// switched on and off while one works (`show` is `flip`), and warmed up beforehand.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SwitchboardError } from '../base/errors.ts';
import { checkServersFile } from './check.ts';
import { readConfigFile } from './files.ts';
import type { ServerEntry, ServersFile } from './schema.ts';
import { isObject } from './wording.ts';

/** A `servers.json` and what is in it. */
export interface ServersLayer {
  readonly file: string;
  readonly servers: ServersFile;
}

/** The files to read, strongest first: the one that was named, or those at the usual places. */
export function findServersFiles(named: string | undefined, project: string, home: string) {
  if (named === undefined) {
    const places = [join(project, '.switchboard', 'servers.json'), join(home, 'servers.json')];
    return [...new Set(places)].filter((file) => existsSync(file));
  }
  if (existsSync(named)) return [named];
  throw new SwitchboardError('CONFIG_INVALID', `There is no file ${named}.`, {
    hint: '--servers or "serversFile" names it. Correct it, or leave it out.',
  });
}

export async function readServersFile(file: string): Promise<ServersLayer> {
  const source = await readConfigFile(file);
  // Pasted whole from a host's file, the servers stand one level deeper.
  const inner = isObject(source.value) ? source.value['mcpServers'] : undefined;
  const isWrapped = isObject(inner) && !('command' in inner) && !('url' in inner);
  if (!isWrapped) return { file, servers: await checkServersFile(source) };
  return { file, servers: await checkServersFile({ file, value: inner, text: undefined }) };
}

/**
 * The entry with plain `$VAR` as good as `${VAR}` in what is filled in, as is the custom in these
 * files. One that is not set stays as it is written: `$` has many other uses.
 */
export function withPlainVariables(entry: ServerEntry): ServerEntry {
  const { args, env, url, headers } = entry;
  const values = <T>(record: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(record).map(([key, value]) => [key, rewrite(value)]));
  return {
    ...entry,
    ...(args && { args: args.map(rewrite) }),
    ...(env && { env: values(env) }),
    ...(url !== undefined && { url: rewrite(url) }),
    ...(headers && { headers: values(headers) }),
  };
}

const PLAIN_VARIABLE = /(?<!\$)\$([A-Za-z_]\w*)/g;

function rewrite<T>(value: T): T {
  if (typeof value !== 'string') return value;
  return value.replace(PLAIN_VARIABLE, (plain, name: string) => `\${${name}:-${plain}}`) as T;
}
