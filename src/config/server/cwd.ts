// The folder a server runs in. A server from the user's files is the same in every project, so it runs in the home
// directory: runners such as npx would otherwise prefer code that the current project contains. A relative path in its
// command means that it's about the project.
import { resolve } from 'node:path';
import { isFolder } from '../../base/make-folder.ts';
import { pathInside } from '../../base/paths.ts';
import type { ChildConfig, Command } from '../config.ts';
import { expandHome } from '../files/globs.ts';
import { type Folders, isUsersFile } from '../files/places.ts';
import type { Declaration } from './command.ts';
import {
  localRunnerOf,
  programName,
  runnerOf,
  runnerOperands,
  shellCommands,
  withoutShell,
  wrappedRunnerOf,
} from './runners.ts';

/** Also called before the command is resolved, which may depend on it. */
export function resolveCwd({ source, entry, origin, folder }: Declaration, folders: Folders) {
  const { project } = folders;
  if (entry.cwd !== undefined) {
    const written = entry.cwd.replaceAll('${project}', () => project);
    return resolve(folder, expandHome(written, folders.homeFolder));
  }
  if (source === 'child-file' || !isUsersFile(origin, folders)) return folder;
  const inner = typeof entry.command === 'object' ? entry.command : undefined;
  const cmd = typeof entry.command === 'string' ? entry.command : inner?.cmd;
  const launch = { cmd: cmd ?? '', args: inner?.args ?? entry.args ?? [] };
  return usesRelativePath(launch) ? project : neutralFolder(folders);
}

/** Without a home directory, as some services have none, the folder of the user's files. */
export function neutralFolder({ homeFolder, home }: Folders): string {
  return isFolder(homeFolder) ? homeFolder : home;
}

/** Whether a server of the user's starts a package runner in the project. */
export function runsInProject(child: ChildConfig, folders: Folders): boolean {
  const { command, cwd, origin } = child;
  if (!command || child.remote) return false;
  const { project } = folders;
  const isInside = cwd === project || pathInside(project, cwd) !== undefined;
  if (!isInside || !isUsersFile(origin, folders)) return false;
  return (localRunnerOf(command) ?? wrappedRunnerOf(command)) !== undefined;
}

type Launch = Pick<Command, 'cmd' | 'args'>;

/** Programs whose first argument is a script, whatever its name. */
const RUNS_SCRIPT = /^(?:node|tsx|ts-node|python[\d.]*|ruby|php|perl|(?:ba|z)?sh)$/;

/** Whether the command or an argument is a path relative to the working directory. */
export function usesRelativePath({ cmd, args }: Launch): boolean {
  const inner = withoutShell({ cmd, args });
  if (inner) return usesRelativePath(inner);
  const commands = shellCommands({ cmd, args });
  if (commands) return commands.some(usesRelativePath);
  if (/[\\/]/.test(cmd) && isRelative(cmd)) return true;
  if (runnerOf({ cmd, args, env: {} }) !== undefined) {
    // The first operand is a package or an image, whose name may contain a slash.
    const [, ...others] = runnerOperands(args);
    return args.some((arg) => /^\.\.?(?:[\\/:]|$)/.test(valueOf(arg))) || others.some(isPathArg);
  }
  const [first = ''] = args;
  const isScript = RUNS_SCRIPT.test(programName(cmd)) && first !== '' && !first.startsWith('-');
  return (isScript && isRelative(first)) || args.some(isPathArg);
}

/** Names of files that aren't in a subfolder. Others may be anything, such as a host name. */
const FILE_NAME =
  /^[^\s:]+\.(?:[cm]?[jt]sx?|py|rb|php|pl|lua|sh|jar|wasm|jsonc?|json5|ya?ml|toml|ini|conf|xml|csv|txt|md|sql|db|sqlite3?|duckdb|log)$/i;

function isPathArg(arg: string): boolean {
  const value = valueOf(arg);
  if (!isRelative(value)) return false;
  return value.startsWith('.') || /[\\/]/.test(value) || FILE_NAME.test(value);
}

/** `--root=./docs` → `./docs`. */
function valueOf(arg: string): string {
  return arg.startsWith('-') ? (/=(.*)$/s.exec(arg)?.[1] ?? '') : arg;
}

/** Not absolute, below the home directory, a URL, a package with a scope, or unknown until a variable is expanded. */
function isRelative(value: string): boolean {
  return value !== '' && !/^(?:[\\/~@$]|[a-z][\w+.-]*:)/i.test(value);
}

/** The same command for another folder: relative paths become absolute. */
export function withAbsolutePaths<T extends Launch>(launch: T, folder: string): T {
  const absolute = (arg: string): string => {
    const value = valueOf(arg);
    const isMeant = /^\.\.?(?:[\\/]|$)/.test(value) || isPathArg(arg);
    return isMeant ? arg.slice(0, arg.length - value.length) + resolve(folder, value) : arg;
  };
  const operands = runnerOperands(launch.args);
  const at = launch.args.length - operands.length;
  // The package itself stays as it is, unless it's a folder.
  const args = launch.args.map((arg, index) =>
    index <= at && !/^\.\.?(?:[\\/]|$)/.test(valueOf(arg)) ? arg : absolute(arg),
  );
  return { ...launch, args };
}
