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

type Launch = Pick<Command, 'cmd' | 'args'>;

/** The command behind `cmd /c`, which hosts on Windows use to start npx. */
export function withoutShell({ cmd, args }: Launch): Launch | undefined {
  const [flag = '', inner, ...rest] = args;
  if (programName(cmd) !== 'cmd' || !/^\/c$/i.test(flag) || inner === undefined) return undefined;
  // The whole command line may be one argument.
  const isLine = rest.length === 0 && !/^(?:[a-z]:|[\\/"])/i.test(inner);
  const [first = '', ...others] = isLine ? inner.trim().split(/\s+/) : [inner, ...rest];
  return { cmd: first, args: others };
}

const SHELL = /^(?:(?:ba|z|da|k|fi)?sh|pwsh|powershell)$/;

/** The commands in a shell's script, such as that of `sh -c`, as far as can be told; undefined for anything else. */
export function shellCommands({ cmd, args }: Launch): Launch[] | undefined {
  if (!SHELL.test(programName(cmd))) return undefined;
  const flag = args.findIndex((arg) => /^-(?:\w*c|command)$/i.test(arg));
  if (flag === -1) return undefined;
  const script = args.slice(flag + 1).join(' ');
  return script.split(/[;&|()\n]+/).map((line) => {
    const [first = '', ...others] = line.split(/[\s"'`<>]+/).filter((word) => word !== '');
    return { cmd: first, args: others };
  });
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
  'corepack',
  'bun',
  'uv',
  'pipx',
  'poetry',
  'pdm',
  'hatch',
  'rye',
  'pixi',
]);

/** The runner, if it may run what the working directory contains. */
export function localRunnerOf({ cmd, args }: Launch): string | undefined {
  const inner = withoutShell({ cmd, args });
  if (inner) return localRunnerOf(inner);
  const program = programName(cmd);
  const at = program === 'env' ? args.findIndex((arg) => !/^-|=/.test(arg)) : -1;
  const [wrapped, ...rest] = at === -1 ? [] : args.slice(at);
  if (wrapped !== undefined) return localRunnerOf({ cmd: wrapped, args: rest });
  return LOCAL_RUNNERS.has(program) || importsFromFolder(program, args) ? program : undefined;
}

/** A runner that a shell or another program starts. */
export function wrappedRunnerOf(launch: Launch): string | undefined {
  // What runs in a container is in its image.
  if (['docker', 'podman'].includes(programName(launch.cmd))) return undefined;
  const commands = shellCommands(launch) ?? [launch];
  for (const { cmd, args } of commands) {
    const words = [cmd, ...args];
    for (const [index, word] of words.entries()) {
      const found = localRunnerOf({ cmd: word, args: words.slice(index + 1) });
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Whether an interpreter looks for modules in the working directory, although its script is elsewhere. */
function importsFromFolder(program: string, args: readonly string[]): boolean {
  const script = args.findIndex(
    (arg, index) => !arg.startsWith('-') && !NODE_MODULE.test(args[index - 1] ?? ''),
  );
  const flags = script === -1 ? args : args.slice(0, script);
  if (/^(?:py|python|pypy)[\d.]*$/.test(program)) {
    const isIsolated = flags.some((flag) => /^-[a-zA-Z]*[IP]/.test(flag));
    return !isIsolated && flags.some((flag) => /^-[a-zA-Z]*[mc]/.test(flag));
  }
  const file = args[script] ?? '';
  const isElsewhere = /^(?:[\\/~$]|[a-z][\w+.-]*:)/i.test(file);
  if (program === 'node') return flags.some((flag) => NODE_CODE.test(flag));
  if (program === 'deno') return args.some((arg) => /^(?:npm|jsr|https?):/.test(arg));
  return ['tsx', 'ts-node'].includes(program) && isElsewhere;
}

/** Options of Node that load a module, which may be one in the working directory. */
const NODE_MODULE = /^(?:-r|--require|--import|--(?:experimental-)?loader)$/;
const NODE_CODE =
  /^(?:-r|--require|--import|--(?:experimental-)?loader|-e|--eval|-p|-pe|--print)(?:=|$)/;
