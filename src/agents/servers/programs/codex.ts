// Codex: `[mcp_servers]` in `config.toml`. It has keys of its own for what others write as variables,
// and takes every value as it stands.
import { join } from 'node:path';
import { isObject } from '../../../base/object.ts';
import { withoutVariables } from '../../../config/server/expand.ts';
import { codexHomeOf } from '../../codex-home.ts';
import { type Listing, listServers, mapEntries } from '../listing.ts';
import { readTomlSettings } from '../settings-file.ts';
import type { ProgramPlaces } from './places.ts';

/** Strongest first. */
export async function readCodex(places: ProgramPlaces): Promise<Listing[]> {
  const { project, env } = places;
  const [ofProject, ofUser] = await Promise.all([
    readTomlSettings(join(project, '.codex', 'config.toml')),
    readTomlSettings(join(codexHomeOf(places), 'config.toml')),
  ]);
  return [
    listServers(ofProject, 'mcp_servers', project),
    listServers(ofUser, 'mcp_servers', undefined),
  ].map((listing) => mapEntries(listing, (entry) => translate(entry, env)));
}

function translate(entry: unknown, env: NodeJS.ProcessEnv): unknown {
  if (!isObject(entry)) return entry;
  const { enabled, command, args, cwd, url, enabled_tools: allow, disabled_tools: deny } = entry;
  const token = entry['bearer_token_env_var'];
  return {
    enabled,
    command: literally(command),
    args: literally(args),
    cwd: literally(cwd),
    url: literally(url),
    env: literally(entry['env'], passedOn(entry['env_vars'], env)),
    headers: literally(entry['http_headers'], {
      ...(isObject(entry['env_http_headers']) && variables(entry['env_http_headers'])),
      ...(typeof token === 'string' && { Authorization: `Bearer \${${token}}` }),
    }),
    expose: { allow, deny },
  };
}

/** Text with `${` made plain, in whatever it stands; with `more`, which is not. */
function literally(value: unknown, more: Readonly<Record<string, unknown>> = {}): unknown {
  if (typeof value === 'string') return withoutVariables(value);
  if (Array.isArray(value)) return value.map((item) => literally(item));
  if (!isObject(value)) return value === undefined && Object.keys(more).length > 0 ? more : value;
  const plain = Object.entries(value).map(([key, item]) => [key, literally(item)]);
  return { ...Object.fromEntries(plain), ...more };
}

/** Variables that are handed on as they are, if they are set. */
function passedOn(names: unknown, env: NodeJS.ProcessEnv): Record<string, unknown> {
  if (!Array.isArray(names)) return {};
  const wanted = names.map((item: unknown) => (isObject(item) ? item['name'] : item));
  const set = wanted.filter((name) => typeof name === 'string' && env[name] !== undefined);
  return variables(Object.fromEntries(set.map((name) => [name, name])));
}

function variables(names: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const references = Object.entries(names).map(([key, name]) => [key, `\${${String(name)}}`]);
  return Object.fromEntries(references);
}
