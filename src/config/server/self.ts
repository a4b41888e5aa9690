// Recognizes Switchboard itself among a host's servers. Behind Switchboard, or as an agent's server, it would call
// itself.
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { isPackageRunner, withoutShell } from './runners.ts';

/** Any of the program's names, as a command or as a package with or without a version. */
const PROGRAM = /^switchboard(-mcp[^@]*)?(\.cmd|\.exe|\.js)?$/i;
const PACKAGE = /^(switchboard|switchboard-mcp[^@/]*)(@[^/]*)?$/i;
const BUILT = /(^|\/)switchboard(-mcp[^/]*)?\/dist\/(index\.js|switchboard)$/i;
const INTERPRETER = /^(node|bun|deno|tsx)(\.exe)?$/i;

interface Started {
  readonly key: string;
  readonly cmd: string | undefined;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
}

/** `program` is this program's real path, if known. */
export function isSelf({ key, cmd, args, cwd }: Started, program?: string): boolean {
  if (key.toLowerCase() === 'switchboard') return true;
  if (cmd === undefined) return false;
  const inner = withoutShell({ cmd, args });
  if (inner) return isSelf({ key, ...inner, cwd }, program);
  if (PROGRAM.test(nameOf(cmd)) || isProgram(cmd, cwd, program)) return true;
  if (isPackageRunner({ cmd, args, env: {} })) return packagesIn(args).some(isOurPackage);
  if (!INTERPRETER.test(nameOf(cmd))) return false;
  return args.some((arg) => BUILT.test(arg.replaceAll('\\', '/')) || isProgram(arg, cwd, program));
}

function isOurPackage(name: string): boolean {
  return PACKAGE.test(name);
}

/** The packages a runner fetches or runs: those of its options, and its first operand. */
function packagesIn(args: readonly string[]): string[] {
  const packages = args.flatMap((arg, index) => {
    const [, joined] = /^(?:-p|--package)=(.*)$/.exec(arg) ?? [];
    if (joined !== undefined) return [joined];
    return arg === '-p' || arg === '--package' ? [args[index + 1] ?? ''] : [];
  });
  const operands = args.filter((arg) => !arg.startsWith('-') && !RUNNER_WORDS.has(arg));
  return [...packages, ...operands.slice(0, 1)];
}

const RUNNER_WORDS = new Set(['exec', 'dlx', 'x', 'tool', 'run']);

function isProgram(word: string, cwd: string | undefined, program: string | undefined): boolean {
  if (program === undefined || !/[/\\]/.test(word)) return false;
  try {
    return realpathSync(resolve(cwd ?? '.', word)) === program;
  } catch {
    return false; // no such file
  }
}

function nameOf(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? '';
}
