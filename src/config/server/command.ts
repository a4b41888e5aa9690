// Resolves a server's command, and explains declarations that can't be used.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import type { Command } from '../config.ts';
import type { Basis, Subject } from '../judge.ts';
import type { ChildFile, ServerEntry } from '../schema/schema.ts';

/** Where and how a server is declared. */
export type Declaration = {
  readonly origin: string;
  /** Where its file comes from; undefined for the user's files. */
  readonly trust?: Subject['origin'] | undefined;
  /** Where the JavaScript that declares it comes from. */
  readonly script?: Subject['origin'] | undefined;
  /** The texts it follows from, apart from the project's main file. */
  readonly basis?: Basis | undefined;
  /** The folder its `cwd` is relative to. */
  readonly folder: string;
  /** Error messages. */
  readonly invalid?: readonly string[] | undefined;
} & (
  | { readonly source: 'main-file' | 'servers-file'; readonly entry: ServerEntry }
  | {
      readonly source: 'child-file';
      readonly entry: ChildFile;
      /** The server's own file, if an assistant replaces it. */
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

  // A server's own folder (of its child file, or its `cwd`) may contain a built program. The project folder doesn't
  // count: its dist/index.js is some other program.
  const isOwnFolder = source === 'child-file' || entry.cwd !== undefined;
  if (entry.url !== undefined || !isOwnFolder) return undefined;
  if (!existsSync(join(cwd, 'dist', 'index.js'))) return undefined;
  return { cmd: process.execPath, args: ['dist/index.js', ...args], env };
}

/** The server is listed anyway; this error is returned when it is used. */
export function explainMissingCommand(
  name: string,
  { source, origin }: Declaration,
): SwitchboardError {
  return new SwitchboardError(
    'CHILD_NOT_CONFIGURED',
    `Server "${name}" has neither a "command" nor a "url".`,
    {
      hint:
        source === 'child-file'
          ? `Add "command" or "url" to ${origin}, or build its program to dist/index.js in the same folder.`
          : `Add "command" or "url" in ${origin}.`,
      data: { child: name, file: origin },
    },
  );
}

export function invalidServer(
  name: string,
  origin: string,
  lines: readonly string[],
): SwitchboardError {
  const between = lines.length === 1 ? ' ' : '\n';
  return new SwitchboardError(
    'CONFIG_INVALID',
    `Server "${name}" has an invalid configuration:${between}${lines.join('\n')}`,
    { hint: 'Fix it, then run: switchboard reload', data: { child: name, file: origin } },
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
    `Server "${name}" uses ${placeholder}, which only the original host can expand (${key} in ${origin}).`,
    {
      hint: 'Use an environment variable such as ${API_KEY} instead, and set it in the environment the host starts Switchboard in.',
      data: { child: name, file: origin },
    },
  );
}

/**
 * The program, if a command looks like a whole command line: the part before the first space is a plain name or an
 * existing file.
 */
export function programBeforeArguments(cmd: string): string | undefined {
  const [program = '', ...words] = cmd.split(/\s+/);
  if (words.length === 0 || program === '') return undefined;
  return !/[\\/]/.test(program) || existsSync(program) ? program : undefined;
}

export function suggestArgs(program: string): string {
  return `Set "command" to only "${program}", and put each argument in "args"`;
}
