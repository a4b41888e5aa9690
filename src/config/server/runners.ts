// Commands that may have to download the server before they can start it. They get the time of a
// whole request for their start instead of the few seconds of a program that is already there.
import type { Command } from '../config.ts';

/** Programs, and the words that must follow each; flags between them do not matter. */
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

/** The program that may have to download the server; undefined where there is none. */
export function runnerOf({ cmd, args }: Command): string | undefined {
  const program = programName(cmd);
  // On Windows hosts' files start npx as `cmd /c npx …`.
  if (program === 'cmd' && /^\/c$/i.test(args[0] ?? '') && args[1] !== undefined) {
    return runnerOf({ cmd: args[1], args: args.slice(2), env: {} });
  }
  const words = args.filter((arg) => !arg.startsWith('-'));
  const isMeant = RUNNERS.get(program)?.every((word, index) => words[index] === word) ?? false;
  return isMeant ? program : undefined;
}

function programName(cmd: string): string {
  const name = cmd.split(/[/\\]/).at(-1) ?? '';
  return name.toLowerCase().replace(/\.(?:cmd|exe)$/, '');
}
