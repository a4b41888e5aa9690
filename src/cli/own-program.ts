// How this very program is started again, for the parts of it that are processes of their own.
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Launch } from '../assistant/wrap.ts';
import type { Command } from '../config/config.ts';

export interface OwnCommandOptions {
  readonly configFile?: string | undefined;
  readonly serversFile?: string | undefined;
  readonly cwd: string;
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
    env: process.env,
  };
}

/** `switchboard assistant serve` with these arguments, and the same files. */
export function assistantCommand(
  { configFile, serversFile, cwd }: OwnCommandOptions,
  args: readonly string[],
): Pick<Command, 'cmd' | 'args'> {
  const config = configFile || process.env['SWITCHBOARD_CONFIG'];
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
