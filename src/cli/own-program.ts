// The command that starts Switchboard again, for assistants that run as separate processes.
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Relaunch } from '../agents/servers/guard.ts';
import type { Launch } from '../assistant/wrap.ts';
import type { Command } from '../config/config.ts';

export interface OwnCommandOptions {
  readonly configFile?: string | undefined;
  readonly serversFile?: string | undefined;
  /** `--trust`. */
  readonly trust?: string | undefined;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Starts a server's assistant with the same configuration files. */
export function assistantLaunch(
  options: OwnCommandOptions & { readonly hosts?: 'one' | 'many' },
): Launch {
  const { hosts = 'one' } = options;
  const more = hosts === 'many' ? ['--no-conversation'] : [];
  return {
    commandFor: (name) => assistantCommand(options, [...more, '--', name]),
    hosts,
    cwd: options.cwd,
    env: options.env,
  };
}

/** `switchboard assistant serve` with these arguments and the same configuration files. */
export function assistantCommand(
  options: OwnCommandOptions,
  args: readonly string[],
): Pick<Command, 'cmd' | 'args'> {
  return ownCommand(options, ['assistant', 'serve'], args);
}

/** Starts a command of this program with the same configuration files. */
export function relaunchWith(options: OwnCommandOptions): Relaunch {
  return (words) => ownCommand(options, words, []);
}

function ownCommand(
  { configFile, serversFile, trust, cwd, env }: OwnCommandOptions,
  words: readonly string[],
  args: readonly string[],
): Pick<Command, 'cmd' | 'args'> {
  const config = configFile || env['SWITCHBOARD_CONFIG'];
  const files = [
    ...(config ? ['--config', absolute(config, cwd)] : []),
    ...(serversFile ? ['--servers', absolute(serversFile, cwd)] : []),
    ...(trust ? ['--trust', trust] : []),
  ];
  const [, script = 'switchboard'] = process.argv;
  // Two processes can't share a debugger port.
  const flags = process.execArgv.filter((flag) => !flag.startsWith('--inspect'));
  const own = [...flags, realpathSync(script)];
  return { cmd: process.execPath, args: [...own, ...words, ...files, ...args] };
}

/** `~/` is expanded when the file is opened. */
function absolute(file: string, cwd: string): string {
  return file.startsWith('~') ? file : resolve(cwd, file);
}
