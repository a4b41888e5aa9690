// Recognizes the same server under another name, so that rules follow a server and not only its name. It compares the
// address, or the command without what doesn't change the server: the program's folder, a package's version, and
// options of the runner. It isn't a boundary: a command that starts the server in a roundabout way looks different.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { realPathOf } from '../../base/paths.ts';
import { expandHome } from '../files/globs.ts';
import { expandVariables } from './expand.ts';
import { programName, runnerOf, withoutShell } from './runners.ts';

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
  const { host, pathname, protocol } = new URL(url);
  const secure = protocol.replace(/^ws/, 'http');
  return `${secure}//${host}${pathname.replace(/\/+$/, '')}`;
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
  const rest = runnerOperands(args);
  const [name = '', ...others] = rest;
  return [
    FAMILIES[runner] ?? 'npm',
    withoutVersion(name),
    ...others.map((arg) => pathOr(arg, cwd)),
  ];
}

/** Runners that fetch from the same place run the same package. */
const FAMILIES: Readonly<Record<string, string>> = {
  uvx: 'pypi',
  uv: 'pypi',
  pipx: 'pypi',
  docker: 'image',
  podman: 'image',
};

const RUNNER_WORDS = new Set(['exec', 'dlx', 'x', 'tool', 'run']);
/** Options of runners that take a value; a package among them counts as the operand. */
const PACKAGE_OPTION = /^(?:-p|--package|--from)(?:=(.*))?$/;
const VALUE_OPTION =
  /^(?:-e|--env|-v|--volume|--name|--network|--mount|-w|--workdir|-u|--user|--with|--python)$/;

/** The package and the arguments for it, without the runner's own. */
function runnerOperands(args: readonly string[]): string[] {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (PACKAGE_OPTION.test(arg) || VALUE_OPTION.test(arg)) at += arg.includes('=') ? 0 : 1;
    else if (!arg.startsWith('-') && !RUNNER_WORDS.has(arg)) return args.slice(at);
  }
  return [];
}

/** `@scope/name@1.2` → `@scope/name`, `image:tag` → `image`. */
function withoutVersion(name: string): string {
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
