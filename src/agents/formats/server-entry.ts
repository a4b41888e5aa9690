// The servers an agent brings along. Programs use different keys for the same settings. An invalid entry is
// ignored, and the agent still works.
import { isObject } from '../../base/object.ts';
import type { AgentServer, ToolReference } from '../agent.ts';
import { serverFolder } from '../servers/candidate.ts';
import type { AgentFile } from './draft.ts';
import { describeValue, textOf } from './fields.ts';

export interface DeclaredServers {
  readonly servers: ReadonlyMap<string, AgentServer>;
  /** The tools the entries name. */
  readonly references: readonly ToolReference[];
}

export interface ServersOrigin extends Omit<AgentFile, 'text'> {
  /** Turns the format's own variable syntax into ours. */
  readonly variablesIn?: (text: string) => string;
}

/** Known keys, including those that only other programs follow. */
export const SERVER_KEYS: readonly string[] = [
  'command',
  'args',
  'env',
  'env_vars',
  'cwd',
  'url',
  'type',
  'headers',
  'http_headers',
  'env_http_headers',
  'bearer_token_env_var',
  'enabled',
  'tools',
  'enabled_tools',
  'disabled_tools',
  'required',
  'startup_timeout_sec',
  'startup_timeout_ms',
  'tool_timeout_sec',
  'default_tools_approval_mode',
];

/** Longer than any sensible limit, in any unit. Engines don't support arbitrarily large numbers. */
const LONGEST_LIMIT = 1e9;

type Warn = (key: string, problem: string) => void;

export function serversOf(value: unknown, origin: ServersOrigin, warn: Warn): DeclaredServers {
  const servers = new Map<string, AgentServer>();
  const references: ToolReference[] = [];
  for (const [key, entry] of isObject(value) ? Object.entries(value) : []) {
    if (isObject(entry) && isFalse(entry['enabled'])) continue;
    const server = serverOf(key, entry, origin, (problem) => warn(key, problem));
    if (!server) continue;
    servers.set(key, server);
    for (const tool of server.enabledTools ?? []) {
      references.push({ server: key, tool, text: `${key}::${tool}` });
    }
  }
  return { servers, references };
}

function serverOf(
  key: string,
  entry: unknown,
  origin: ServersOrigin,
  warn: (problem: string) => void,
): AgentServer | undefined {
  const { file, variablesIn = (same) => same } = origin;
  const wrong = (what: string, value: unknown) => {
    warn(`${what}, got ${describeValue(value)}. The server is ignored.`);
    return undefined;
  };
  if (!isObject(entry)) return wrong('expected a table', entry);
  const cmd = textOf(entry['command']);
  const url = textOf(entry['url']);
  if (cmd === undefined && url === undefined)
    return wrong('expected a command or a url', undefined);
  if (cmd !== undefined && url !== undefined) {
    warn('it has both a command and a url. The server is ignored.');
    return undefined;
  }
  if (url !== undefined && textOf(entry['type'])?.toLowerCase() === 'sse') {
    warn(
      'SSE is not supported. Bridge it with a command such as mcp-proxy. The server is ignored.',
    );
    return undefined;
  }
  const args = entry['args'] ?? [];
  if (!Array.isArray(args)) return wrong('args: expected a list', args);
  const env = stringsIn(entry['env'], variablesIn);
  if (!env) return wrong('env: expected a table of strings', entry['env']);
  const headers = headersOf(entry, variablesIn);
  if (!headers) return wrong('headers: expected a table of strings', 'text');
  warnOfIgnored(entry, warn);
  return {
    key,
    origin: file,
    cmd,
    args: args.map((arg) => variablesIn(String(arg))),
    env: { ...inherited(entry['env_vars']), ...env },
    // Like a server in a project's own file: relative to the project.
    cwd:
      cmd === undefined
        ? undefined
        : serverFolder(variablesIn(textOf(entry['cwd']) ?? '.'), origin),
    url: url === undefined ? undefined : variablesIn(url),
    headers,
    enabledTools: enabledToolsIn(entry),
    startupTimeoutSec: startupSeconds(entry, warn),
    toolTimeoutSec: secondsIn(entry, 'tool_timeout_sec', warn),
    ...(isTrue(entry['required']) && { isRequired: true }),
    isInjected: false,
  };
}

/** Keys that have no effect on an agent's servers. */
function warnOfIgnored(entry: Record<string, unknown>, warn: (problem: string) => void): void {
  const { disabled_tools: disabled, default_tools_approval_mode: mode } = entry;
  if (Array.isArray(disabled) && disabled.length > 0) {
    warn('disabled_tools has no effect here. List the tools to use in enabled_tools instead.');
  }
  if (mode !== undefined && mode !== 'approve') {
    warn(
      'default_tools_approval_mode has no effect here. List the allowed tools in enabled_tools: they run without asking.',
    );
  }
}

function startupSeconds(
  entry: Record<string, unknown>,
  warn: (problem: string) => void,
): number | undefined {
  const seconds = secondsIn(entry, 'startup_timeout_sec', warn);
  const milliseconds = secondsIn(entry, 'startup_timeout_ms', warn);
  return seconds ?? (milliseconds === undefined ? undefined : milliseconds / 1_000);
}

function secondsIn(
  entry: Record<string, unknown>,
  key: string,
  warn: (problem: string) => void,
): number | undefined {
  const value = entry[key];
  if (value === undefined) return undefined;
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number === 'number' && number > 0 && number <= LONGEST_LIMIT) return number;
  warn(`${key}: expected a number above 0, got ${describeValue(value)}. Ignored.`);
  return undefined;
}

function headersOf(
  entry: Record<string, unknown>,
  variablesIn: (text: string) => string,
): Record<string, string> | undefined {
  const headers = stringsIn(entry['http_headers'] ?? entry['headers'], variablesIn);
  const fromEnvironment = stringsIn(entry['env_http_headers'], (name) => name);
  if (!headers || !fromEnvironment) return undefined;
  const token = textOf(entry['bearer_token_env_var']);
  const named = Object.entries(fromEnvironment).map(([header, name]) => [header, `\${${name}}`]);
  return {
    ...(token !== undefined && { Authorization: `Bearer \${${token}}` }),
    ...Object.fromEntries(named),
    ...headers,
  };
}

/** Variables to pass through from our environment, if set. */
function inherited(names: unknown): Record<string, string> {
  const given = Array.isArray(names) ? names.flatMap((name) => textOf(name) ?? []) : [];
  return Object.fromEntries(given.map((name) => [name, `\${${name}:-}`]));
}

/** Numbers and booleans become strings, as in any environment. Undefined if it isn't such a table. */
function stringsIn(
  value: unknown,
  variablesIn: (text: string) => string,
): Record<string, string> | undefined {
  if (value === undefined || value === null || value === '') return {};
  if (!isObject(value) || value instanceof Date) return undefined;
  const entries = Object.entries(value);
  const isText = ([, each]: [string, unknown]) => typeof each !== 'object';
  if (!entries.every(isText)) return undefined;
  return Object.fromEntries(entries.map(([key, each]) => [key, variablesIn(String(each))]));
}

function enabledToolsIn(entry: Record<string, unknown>): string[] | undefined {
  const wanted = entry['enabled_tools'] ?? entry['tools'];
  if (!Array.isArray(wanted)) return undefined;
  const names = wanted.flatMap((name) => textOf(name) ?? []);
  return names.includes('*') ? undefined : names;
}

function isTrue(value: unknown): boolean {
  return value === true || value === 'true';
}

function isFalse(value: unknown): boolean {
  return value === false || value === 'false';
}
