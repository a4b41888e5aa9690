// What a server's process depends on. Sessions share a process only if they agree on all of it: the resolved program,
// its arguments, its folder, its environment and the settings that affect the process. Variables of the base class are
// special: hosts drop different ones, so a variable that one side lacks doesn't keep them apart. Two different values do.
import { isAbsolute, resolve } from 'node:path';
import { findOnPath } from '../base/find-program.ts';
import { realPathOf } from '../base/paths.ts';
import { classifyEnvironment, type Variables } from '../child/environment.ts';
import type { ChildConfig, Share } from '../config/config.ts';
import { expandCommand, expandRemote } from '../config/server/expand.ts';
import { versionOf } from './identity.ts';

export interface ProcessIdentity {
  /** Equal for processes that differ at most in their base variables. */
  readonly key: string;
  /** The same without ambient variables. */
  readonly family: string;
  readonly base: Variables;
  readonly ambient: Variables;
  readonly share: Share;
  /** Whether it depends on the session's roots. */
  readonly hasRoots: boolean;
}

export interface IdentityParts {
  /** The session's environment. */
  readonly env: NodeJS.ProcessEnv;
  /** The same with the secrets the server refers to. */
  readonly variables: NodeJS.ProcessEnv;
  /** What the login shell exports, for servers that inherit it. */
  readonly login?: NodeJS.ProcessEnv | undefined;
  readonly project: string;
  /** `$SWITCHBOARD_HOME`. */
  readonly home: string;
  /** Tells sessions apart. */
  readonly session: number;
  /** What the session adds to the environment of its servers, such as how deeply its assistants are nested. */
  readonly mark?: Variables | undefined;
  /** The session's roots, if the server asks for them. */
  readonly roots?: string | undefined;
}

/** Throws if the server can't be started: a variable is missing. */
export function processIdentity(config: ChildConfig, parts: IdentityParts): ProcessIdentity {
  const { share } = config;
  const { base, passed, ambient } = config.remote
    ? { ...classifyEnvironment(config, parts.env), ambient: {} }
    : classifyEnvironment(config, parts.env, parts.login);
  const family = JSON.stringify([
    [config.name, parts.home, share, scopeOf(share, parts), parts.roots],
    launchOf(config, parts, base),
    sorted({ ...passed, ...parts.mark }),
    config.sandbox && [config.sandbox, parts.project],
    [config.framing, config.protocolVersion, config.stderr, config.timeouts.stopMs],
    [config.messageBytes, config.messageShape],
    versionOf(config) ?? null, // an update starts a new process
  ]);
  return {
    family,
    key: JSON.stringify([family, sorted(ambient)]),
    base,
    ambient,
    share,
    hasRoots: parts.roots !== undefined,
  };
}

/** Whether a process with one set of base variables also suits a session with the other. */
export function fitsBase(one: Variables, other: Variables): boolean {
  return Object.entries(one).every(
    ([name, value]) => name === 'TERM' || other[name] === undefined || other[name] === value,
  );
}

/** The variables that keep two processes of a family apart. */
export function differences(one: ProcessIdentity, other: ProcessIdentity): string[] {
  const [mine, theirs] = [
    { ...one.base, ...one.ambient },
    { ...other.base, ...other.ambient },
  ];
  const names = new Set([...Object.keys(one.ambient), ...Object.keys(other.ambient)]);
  const differing = [...names].filter((name) => mine[name] !== theirs[name]);
  const ofBase = Object.keys(one.base).filter(
    (name) => name !== 'TERM' && theirs[name] !== undefined && mine[name] !== theirs[name],
  );
  return [...new Set([...differing, ...ofBase])].sort();
}

function scopeOf(share: Share, { project, session }: IdentityParts): string | number | undefined {
  if (share === 'user') return undefined;
  return share === 'project' ? project : session;
}

function launchOf(config: ChildConfig, { variables }: IdentityParts, base: Variables): unknown {
  if (config.remote) return expandRemote(config, variables);
  const { cmd, args, env } = expandCommand(config, variables);
  return [programOf(cmd, config.cwd, { ...base, ...env }), args, config.cwd, sorted(env)];
}

/** The file that runs; the name if it isn't found. */
function programOf(cmd: string, cwd: string, env: NodeJS.ProcessEnv): string {
  const isPath = isAbsolute(cmd) || /[\\/]/.test(cmd);
  const found = isPath ? resolve(cwd, cmd) : findOnPath(cmd, env);
  return found === undefined ? cmd : realPathOf(found);
}

function sorted(variables: Variables): [string, string][] {
  return Object.entries(variables).sort(([a], [b]) => (a < b ? -1 : 1));
}
