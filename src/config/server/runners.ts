// Package runners: commands that may have to download the server first. They may take as long to start as a request,
// instead of the few seconds an installed program gets.
import type { Command } from '../config.ts';

/** Programs with the subcommands that must follow; flags in between are ignored. */
const RUNNERS = new Map<string, readonly string[]>([
  ['npx', []],
  ['pnpx', []],
  ['bunx', []],
  ['uvx', []],
  ['docker', []],
  ['podman', []],
  ['npm', ['exec']],
  ['pnpm', ['dlx']],
  ['yarn', ['dlx']],
  ['bun', ['x']],
  ['pipx', ['run']],
  ['uv', ['tool', 'run']],
]);

export function isPackageRunner(command: Command): boolean {
  return runnerOf(command) !== undefined;
}

/** The name of the package runner; undefined if the command isn't one. */
export function runnerOf({ cmd, args }: Command): string | undefined {
  const inner = withoutShell({ cmd, args });
  if (inner) return runnerOf({ ...inner, env: {} });
  const program = programName(cmd);
  const words = args.filter((arg) => !arg.startsWith('-'));
  const isRunner = RUNNERS.get(program)?.every((word, index) => words[index] === word) ?? false;
  return isRunner ? program : undefined;
}

/** The command behind `cmd /c`, which hosts on Windows use to start npx. */
export function withoutShell({
  cmd,
  args,
}: Pick<Command, 'cmd' | 'args'>): Pick<Command, 'cmd' | 'args'> | undefined {
  const [flag = '', inner, ...rest] = args;
  if (programName(cmd) !== 'cmd' || !/^\/c$/i.test(flag) || inner === undefined) return undefined;
  return { cmd: inner, args: rest };
}

/** A command's name without its folder and the endings Windows adds. */
export function programName(cmd: string): string {
  const name = cmd.split(/[/\\]/).at(-1) ?? '';
  return name.toLowerCase().replace(/\.(?:cmd|exe)$/, '');
}

const RUNNER_WORDS = new Set(['exec', 'dlx', 'x', 'tool', 'run']);
const PACKAGE_OPTION = /^(?:-p|--package|--from)(?:=(.*))?$/;
/** Other options of runners that take a value. */
const VALUE_OPTION =
  /^(?:-e|--env|-v|--volume|--name|--network|--mount|-w|--workdir|-u|--user|--with|--python)$/;

/** The package and the arguments for it, without the runner's own. */
export function runnerOperands(args: readonly string[]): string[] {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (PACKAGE_OPTION.test(arg) || VALUE_OPTION.test(arg)) at += arg.includes('=') ? 0 : 1;
    else if (!arg.startsWith('-') && !RUNNER_WORDS.has(arg)) return args.slice(at);
  }
  return [];
}

/** The package that an option names, if its command has another name. */
export function runnerPackage(args: readonly string[]): string | undefined {
  const own = args.slice(0, args.length - runnerOperands(args).length);
  for (const [index, arg] of own.entries()) {
    const [found, joined] = PACKAGE_OPTION.exec(arg) ?? [];
    if (found !== undefined) return joined ?? own[index + 1];
  }
  return undefined;
}

/** Runners that use packages and settings in the working directory. */
const LOCAL_RUNNERS = new Set([
  'npx',
  'pnpx',
  'bunx',
  'uvx',
  'npm',
  'pnpm',
  'yarn',
  'bun',
  'uv',
  'pipx',
]);

/** The runner, if it may run what the working directory contains. */
export function localRunnerOf({ cmd, args }: Pick<Command, 'cmd' | 'args'>): string | undefined {
  const inner = withoutShell({ cmd, args });
  if (inner) return localRunnerOf(inner);
  const program = programName(cmd);
  const at = program === 'env' ? args.findIndex((arg) => !/^-|=/.test(arg)) : -1;
  const [wrapped, ...rest] = at === -1 ? [] : args.slice(at);
  if (wrapped !== undefined) return localRunnerOf({ cmd: wrapped, args: rest });
  return LOCAL_RUNNERS.has(program) ? program : undefined;
}
