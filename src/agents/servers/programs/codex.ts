// Codex: `[mcp_servers]` in `config.toml`. It has its own keys for variables, and takes every value literally.
import { join } from 'node:path';
import { isObject } from '../../../base/object.ts';
import { realPathOf } from '../../../base/paths.ts';
import { withoutVariables } from '../../../config/server/expand.ts';
import { codexHomeOf } from '../../codex/home.ts';
import {
  type Listing,
  listServers,
  mapEntries,
  type ProgramPlaces,
  readTomlSettings,
  type Settings,
} from './listing.ts';

/** Highest precedence first. */
export async function readCodex(places: ProgramPlaces): Promise<Listing[]> {
  const { project, env, gate } = places;
  const [ofProject, ofUser] = await Promise.all([
    readTomlSettings(join(project, '.codex', 'config.toml'), gate),
    readTomlSettings(join(codexHomeOf(places), 'config.toml'), gate),
  ]);
  const isTrusted = ofUser.trust !== 'foreign' && trustsProject(ofUser.settings, project);
  return [
    { ...listServers(ofProject, 'mcp_servers', project), isConsented: () => isTrusted },
    listServers(ofUser, 'mcp_servers', undefined),
  ].map((listing) => mapEntries(listing, (entry) => translate(entry, env)));
}

/** Codex itself reads a project's file only if the user trusts the project. */
function trustsProject({ projects }: Settings, project: string): boolean {
  if (!isObject(projects)) return false;
  return [project, realPathOf(project)].some((path) => {
    const here = Object.hasOwn(projects, path) ? projects[path] : undefined;
    return isObject(here) && here['trust_level'] === 'trusted';
  });
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
    env: literally(entry['env'], passedThrough(entry['env_vars'], env)),
    headers: literally(entry['http_headers'], {
      ...(isObject(entry['env_http_headers']) && variables(entry['env_http_headers'])),
      ...(typeof token === 'string' && { Authorization: `Bearer \${${token}}` }),
    }),
    expose: { allow, deny },
  };
}

/** Escapes `${` in all strings of a value, then adds `more` unchanged. */
function literally(value: unknown, more: Readonly<Record<string, unknown>> = {}): unknown {
  if (typeof value === 'string') return withoutVariables(value);
  if (Array.isArray(value)) return value.map((item) => literally(item));
  if (!isObject(value)) return value === undefined && Object.keys(more).length > 0 ? more : value;
  const plain = Object.entries(value).map(([key, item]) => [key, literally(item)]);
  return { ...Object.fromEntries(plain), ...more };
}

/** Variables to pass through, if set. */
function passedThrough(names: unknown, env: NodeJS.ProcessEnv): Record<string, unknown> {
  if (!Array.isArray(names)) return {};
  const wanted = names.map((item: unknown) => (isObject(item) ? item['name'] : item));
  const set = wanted.filter((name) => typeof name === 'string' && env[name] !== undefined);
  return variables(Object.fromEntries(set.map((name) => [name, name])));
}

function variables(names: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const references = Object.entries(names).map(([key, name]) => [key, `\${${String(name)}}`]);
  return Object.fromEntries(references);
}
