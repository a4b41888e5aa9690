// How this program starts itself again, for the parts of it that run as their own processes.
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Launch } from '../assistant/wrap.ts';
import type { Command } from '../config/config.ts';

export interface OwnCommandOptions {
  readonly configFile?: string | undefined;
  readonly serversFile?: string | undefined;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Starts the assistant of a server with the configuration that this program was started with. */
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

/** `switchboard assistant serve` with these arguments, and the same files. */
export function assistantCommand(
  { configFile, serversFile, cwd, env }: OwnCommandOptions,
  args: readonly string[],
): Pick<Command, 'cmd' | 'args'> {
  const config = configFile || env['SWITCHBOARD_CONFIG'];
  const files = [
    ...(config ? ['--config', absolute(config, cwd)] : []),
    ...(serversFile ? ['--servers', absolute(serversFile, cwd)] : []),
  ];
  const [, script = 'switchboard'] = process.argv;
  // Two programs cannot be debugged at one address.
  const flags = process.execArgv.filter((flag) => !flag.startsWith('--inspect'));
  const own = [...flags, realpathSync(script)];
  return { cmd: process.execPath, args: [...own, 'assistant', 'serve', ...files, ...args] };
}

/** `~/` is read as the user's home where the file is opened. */
function absolute(file: string, cwd: string): string {
  return file.startsWith('~') ? file : resolve(cwd, file);
}
