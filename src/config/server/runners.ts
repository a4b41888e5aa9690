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
