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
  const program = programName(cmd);
  // On Windows, hosts start npx as `cmd /c npx …`.
  if (program === 'cmd' && /^\/c$/i.test(args[0] ?? '') && args[1] !== undefined) {
    return runnerOf({ cmd: args[1], args: args.slice(2), env: {} });
  }
  const words = args.filter((arg) => !arg.startsWith('-'));
  const isRunner = RUNNERS.get(program)?.every((word, index) => words[index] === word) ?? false;
  return isRunner ? program : undefined;
}

function programName(cmd: string): string {
  const name = cmd.split(/[/\\]/).at(-1) ?? '';
  return name.toLowerCase().replace(/\.(?:cmd|exe)$/, '');
}
