// The command of a child, from either of the two ways to write it, or what to say where it has none.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import type { Command } from '../config.ts';
import type { ChildFile, ServerEntry } from '../schema/schema.ts';

/** Where a child is declared, and how. */
export type Declaration = {
  readonly origin: string;
  /** The folder its `cwd` is relative to. */
  readonly folder: string;
  /** What is wrong in the entry. */
  readonly invalid?: readonly string[] | undefined;
} & (
  | { readonly source: 'main-file' | 'servers-file'; readonly entry: ServerEntry }
  | {
      readonly source: 'child-file';
      readonly entry: ChildFile;
      /** The server's own file, where an assistant has taken its place. */
      readonly original?: ChildFile | undefined;
    }
);

export function resolveCommand({ source, entry }: Declaration, cwd: string): Command | undefined {
  const inner = typeof entry.command === 'object' ? entry.command : undefined;
  const args = inner?.args ?? entry.args ?? [];
  const env = Object.fromEntries(
    [...Object.entries(entry.env ?? {}), ...Object.entries(inner?.env ?? {})].map(
      ([name, value]) => [name, String(value)],
    ),
  );
  const cmd = typeof entry.command === 'string' ? entry.command : inner?.cmd;
  if (cmd !== undefined) return { cmd, args, env };

  // A folder that is the server's own, by its child file or by `cwd`, may hold a built program. The
  // project is not such a folder: its dist/index.js is some other program.
  const isOwnFolder = source === 'child-file' || entry.cwd !== undefined;
  if (entry.url !== undefined || !isOwnFolder) return undefined;
  if (!existsSync(join(cwd, 'dist', 'index.js'))) return undefined;
  return { cmd: process.execPath, args: ['dist/index.js', ...args], env };
}

/** Why there is nothing to start or to reach. The child is listed all the same, and this is said when it is used. */
export function explainMissingCommand(
  name: string,
  { source, origin }: Declaration,
): SwitchboardError {
  return new SwitchboardError(
    'CHILD_NOT_CONFIGURED',
    `Server "${name}" has no command and no url.`,
    {
      hint:
        source === 'child-file'
          ? `Add "command" or "url" to ${origin}, or build the program to dist/index.js beside it.`
          : `Add "command" or "url" to it in ${origin}.`,
      data: { child: name, file: origin },
    },
  );
}

/** A server whose entry has mistakes, one on each line. Only this server is affected. */
export function invalidServer(
  name: string,
  origin: string,
  lines: readonly string[],
): SwitchboardError {
  const between = lines.length === 1 ? ' ' : '\n';
  return new SwitchboardError(
    'CONFIG_INVALID',
    `Server "${name}" has an invalid configuration:${between}${lines.join('\n')}`,
    { hint: 'Fix it and run: switchboard reload', data: { child: name, file: origin } },
  );
}

export function explainTwoWays(name: string, origin: string): SwitchboardError {
  return new SwitchboardError(
    'CONFIG_INVALID',
    `Server "${name}" has both a "command" and a "url".`,
    { hint: `Remove one of them in ${origin}.`, data: { child: name, file: origin } },
  );
}

export function explainPlaceholder(
  name: string,
  origin: string,
  { key, placeholder }: { readonly key: string; readonly placeholder: string },
): SwitchboardError {
  return new SwitchboardError(
    'CONFIG_INVALID',
    `Server "${name}" contains ${placeholder}, which only the host it comes from can fill in (${key} in ${origin}).`,
    {
      hint: 'Replace it with an environment variable, such as ${API_KEY}, and set that where the host starts Switchboard.',
      data: { child: name, file: origin },
    },
  );
}

/**
 * The program of a command that looks like a whole command line: what precedes the first space is a
 * name, or a file that exists.
 */
export function programBeforeArguments(cmd: string): string | undefined {
  const [program = '', ...words] = cmd.split(/\s+/);
  if (words.length === 0 || program === '') return undefined;
  return !/[\\/]/.test(program) || existsSync(program) ? program : undefined;
}

export function suggestArgs(program: string): string {
  return `Set "command" to "${program}" alone, and put each argument into "args"`;
}
