// What serving needs, whichever way hosts reach us: stdout kept for the protocol, the configuration read
// aloud, and read again when somebody asks for it.
import type { Writable } from 'node:stream';
import { withAssistants } from '../assistant/wrap.ts';
import { SwitchboardError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import { isScript } from '../config/files.ts';
import { loadConfig } from '../config/load.ts';
import type { Switchboard } from '../switchboard.ts';
import { assistantLaunch } from './own-program.ts';

export interface ServeOptions {
  readonly configFile?: string | undefined;
  readonly serversFile?: string | undefined;
}

/**
 * Gives the way to write to stdout, and takes it from everybody else for good: what a configuration
 * that is code prints, or a library, goes to stderr, what they say to `words`.
 */
export function keepStdout(words: Writable = process.stderr): NodeJS.WriteStream['write'] {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  globalThis.console = new console.Console(words);
  return write;
}

/** Reads the configuration and says what is worth knowing about it. */
export async function loadAloud(
  options: ServeOptions & { readonly cwd: string; readonly hosts?: 'one' | 'many' },
  log: Log,
): Promise<Config> {
  const loaded = await loadConfig({ ...options, env: process.env });
  const config = withAssistants(loaded, assistantLaunch(options));
  // A project's file was run with the user's rights: that is worth a word.
  for (const file of config.files.filter(isScript)) log.info(`ran ${file} for the configuration.`);
  for (const warning of config.warnings) log.warn(warning);
  return config;
}

export type Reload = () => Promise<{ readonly ok: boolean; readonly message: string }>;

/** Reads the configuration again, one time after the other; one that cannot be read changes nothing. */
export function createReload(
  switchboard: Switchboard,
  load: () => Promise<Config>,
  log: Log,
): Reload {
  let last: Promise<unknown> = Promise.resolve();
  const reload: Reload = async () => {
    try {
      const config = await load();
      switchboard.update(config);
      const message = `read the configuration again: ${config.files.join(', ') || 'no files'}.`;
      log.info(message);
      return { ok: true, message };
    } catch (error) {
      const reason = error instanceof SwitchboardError ? error.text : String(error);
      const message = `the configuration was not taken over, the one before stays: ${reason}`;
      log.error(message);
      return { ok: false, message };
    }
  };
  return () => {
    const next = last.then(reload);
    last = next;
    return next;
  };
}
