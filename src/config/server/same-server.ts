// Recognizes the same server under another name, so that rules follow a server and not only its name. It compares the
// address, or the command without what doesn't change the server: the program's folder, a package's version, and
// options of the runner. It isn't a boundary: a command that starts the server in a roundabout way looks different.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { realPathOf } from '../../base/paths.ts';
import type { ChildConfig } from '../config.ts';
import { expandHome } from '../files/globs.ts';
import { expandVariables } from './expand.ts';
import { programName, runnerOf, runnerOperands, runnerPackage, withoutShell } from './runners.ts';

export interface Launched {
  readonly cmd: string | undefined;
  readonly args: readonly string[];
  readonly url: string | undefined;
  /** Relative arguments start here. */
  readonly cwd: string;
}

export interface LaunchPlace {
  readonly env: NodeJS.ProcessEnv;
  readonly homeFolder: string;
}

/** The key of a resolved server. For an assistant, the server behind it counts: its own command is our program. */
export function launchKeyOf(child: ChildConfig, place: LaunchPlace): string | undefined {
  const { command, remote, cwd } = child.behind ?? child;
  const launched = { cmd: command?.cmd, args: command?.args ?? [], url: remote?.url, cwd };
  return launchKey(launched, place);
}

/** Equal for the same server; undefined if it can't be started. */
export function launchKey(launched: Launched, place: LaunchPlace): string | undefined {
  const { url, cmd } = launched;
  if (cmd === undefined) return url === undefined ? undefined : addressKey(expand(url, place));
  const words = [cmd, ...launched.args].map((word) => expand(word, place));
  return JSON.stringify(commandKey(words, launched.cwd));
}

/** Without what only identifies the caller: credentials, query and fragment. */
function addressKey(url: string): string {
  if (!URL.canParse(url)) return url;
  const { hostname, port, pathname, protocol } = new URL(url);
  const secure = protocol.replace(/^ws/, 'http');
  const path = decoded(pathname).replaceAll(/\/+/g, '/').replace(/\/$/, '');
  return `${secure}//${hostname.replace(/\.$/, '')}:${port}${path}`;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // not valid: compared as written
  }
}

function commandKey([cmd = '', ...args]: readonly string[], cwd: string): string[] {
  const inner = withoutShell({ cmd, args });
  if (inner) return commandKey([inner.cmd, ...inner.args], cwd);
  const program = programName(cmd);
  if (program === 'env') {
    const at = args.findIndex((arg) => !arg.startsWith('-') && !arg.includes('='));
    if (at !== -1) return commandKey(args.slice(at), cwd);
  }
  const runner = runnerOf({ cmd, args, env: {} });
  if (runner === undefined) return [program, ...args.map((arg) => pathOr(arg, cwd))];
  const [name = '', ...others] = runnerOperands(args);
  const family = FAMILIES[runner] ?? 'npm';
  // For containers, the same option means something else.
  const named = family === 'image' ? undefined : runnerPackage(args);
  return [family, withoutVersion(named ?? name), ...others.map((arg) => pathOr(arg, cwd))];
}

/** Runners that fetch from the same place run the same package. */
const FAMILIES: Readonly<Record<string, string>> = {
  uvx: 'pypi',
  uv: 'pypi',
  pipx: 'pypi',
  docker: 'image',
  podman: 'image',
};

/** `@scope/name@1.2` → `@scope/name`, `image:tag` → `image`. */
export function withoutVersion(name: string): string {
  return name.replace(/(?<=.)(?:@|==).*$/, '').replace(/:[^/]*$/, '');
}

/** The real path of an existing file; otherwise the argument. */
function pathOr(arg: string, cwd: string): string {
  if (arg.startsWith('-') || !/[\\/.]/.test(arg)) return arg;
  const path = resolve(cwd, arg);
  return existsSync(path) ? realPathOf(path) : arg;
}

/** As written if a variable isn't set. */
function expand(text: string, { env, homeFolder }: LaunchPlace): string {
  try {
    return expandHome(expandVariables(text, env), homeFolder);
  } catch {
    return text;
  }
}
