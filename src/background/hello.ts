// What an entry says about its session. The host's first byte is read only when the background process has accepted
// it, so the entry can always serve alone instead.
import { isObject } from '../base/object.ts';
import type { Place } from './place.ts';

export interface Hello {
  readonly protocol: number;
  /** The program's version, and the build: a program can be replaced by another of the same version. */
  readonly version: string;
  readonly build: string;
  /** The command that uses servers without serving a host, such as `switchboard call`. */
  readonly command?: string | undefined;
  /** Set for `switchboard serve --http`, which has many hosts. */
  readonly http?: HttpFlags | undefined;
  readonly pid: number;
  /** Where the host works. */
  readonly folder: string;
  readonly args: readonly string[];
  /** The variables needed to read the configuration. */
  readonly variables: Readonly<Record<string, string>>;
  readonly place: Place;
  /** Counts the background processes this session has had before. */
  readonly generation: number;
  /** From the session's last background process. */
  readonly snapshot?: string | undefined;
}

export interface Refusal {
  readonly reason: string;
  /** Nothing went wrong: the user wants it, or serving alone will show the error. */
  readonly isExpected: boolean;
  /** This process accepts no more sessions, so another one should be started. */
  readonly isOver: boolean;
  /** The error, for `serve --http`: trying it alone would only repeat it. */
  readonly failed?: unknown;
}

/** The options of `switchboard serve` over stdio, or of `switchboard assistant serve --tools --shared`. */
export interface ServeArguments {
  /** The only server, with its own tools. */
  readonly toolsOf?: string | undefined;
  readonly configFile?: string | undefined;
  readonly serversFile?: string | undefined;
  readonly trust?: string | undefined;
}

/** The options of `switchboard serve --http`, as typed. The rest is in the environment. */
export interface HttpFlags {
  readonly http?: boolean | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  /** False with `--no-auth`. */
  readonly auth?: boolean | undefined;
  readonly allowRemote?: boolean | undefined;
  readonly allowHost?: readonly string[] | undefined;
}

type OptionKey = 'configFile' | 'serversFile' | 'trust';

const OPTIONS: Readonly<Record<string, OptionKey>> = {
  '--config': 'configFile',
  '--servers': 'serversFile',
  '--trust': 'trust',
};

/** Undefined for other commands and options, which need the whole program. */
export function parseServeArguments(args: readonly string[]): ServeArguments | undefined {
  const tools = args[0] === 'assistant' ? parseToolsOf(args) : undefined;
  if (args[0] === 'assistant' && !tools) return undefined;
  const { words, ...options }: { words: string[] } & Writable = tools ?? {
    words: args[0] === 'serve' ? args.slice(1) : [...args],
  };
  while (words.length > 0) {
    const word = words.shift() ?? '';
    const equals = word.indexOf('=');
    const name = equals === -1 ? word : word.slice(0, equals);
    const key = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
    const value = equals === -1 ? words.shift() : word.slice(equals + 1);
    if (key === undefined || !value || (equals === -1 && value.startsWith('-'))) return undefined;
    options[key] = value;
  }
  return options;
}

/** The reverse, for a host's session. */
export function formatServeArguments(options: Omit<ServeArguments, 'toolsOf'>): string[] {
  return Object.entries(OPTIONS).flatMap(([name, key]) =>
    options[key] ? [`${name}=${options[key]}`] : [],
  );
}

type Writable = { -readonly [key in keyof ServeArguments]: ServeArguments[key] };

const TOOLS = ['--tools', '--shared', '--'];

/** `assistant serve [options] --tools --shared -- <server>`, as this program starts itself. */
function parseToolsOf(args: readonly string[]): { words: string[]; toolsOf: string } | undefined {
  const end = args.length - TOOLS.length - 1;
  const toolsOf = args.at(-1);
  const isMeant =
    args[1] === 'serve' && end >= 2 && TOOLS.every((word, index) => args[end + index] === word);
  return isMeant && toolsOf ? { words: args.slice(2, end), toolsOf } : undefined;
}

/** Secrets come later, if a server needs them. */
const CREDENTIAL = /(?:TOKEN|KEY|SECRET|PASSWORD)$/i;

/** The variables that configuration files and settings depend on. Others are asked for if they turn out to matter. */
const OWN =
  /^(?:SWITCHBOARD_|AGENTS_|TRACING_|XDG_|LOG_(?:DIR|TO_FILE)$|(?:ANTHROPIC_AGENTS|VSCODE_CHATMODES)_DIRS$|(?:HOME|USERPROFILE|WORKSPACE_DIR|RUST_LOG|PATH|PATHEXT|TRANSPORT|CODEX_HOME|CLAUDE_CONFIG_DIR|VSCODE_USER_MCP|NPM_CONFIG_CACHE|UV_CACHE_DIR|USER)$)/i;

export function ownVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const names = Object.keys(env).filter((name) => OWN.test(name) && !CREDENTIAL.test(name));
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

/** The names that are asked for; `all` for the whole environment. */
export type WantedNames = 'all' | readonly string[];

export function valuesOf(wanted: WantedNames, env: NodeJS.ProcessEnv): Record<string, string> {
  const names = wanted === 'all' ? Object.keys(env) : wanted;
  const given: Record<string, string> = {};
  for (const name of names) {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined) given[name] = value;
  }
  return given;
}

/** A frame's JSON. Undefined if it isn't an object. */
export function parsePayload(payload: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(payload.toString());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
