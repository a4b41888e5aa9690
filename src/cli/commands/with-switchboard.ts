// What every command that uses children needs: the configuration, a switchboard, Ctrl-C.
import { Writable } from 'node:stream';
import { withAssistants, withoutAssistants } from '../../assistant/wrap.ts';
import { Cancellation } from '../../base/cancellation.ts';
import { ERRORS, SwitchboardError } from '../../base/errors.ts';
import { createLog, type Log, type LogSettings } from '../../base/log.ts';
import { isWritten } from '../../base/log-level.ts';
import { cleanText } from '../../base/text.ts';
import type { ChildConfig, Config } from '../../config/config.ts';
import { loadConfig } from '../../config/load.ts';
import { unknownChild } from '../../pool/pool.ts';
import { Switchboard } from '../../switchboard.ts';
import { assistantLaunch } from '../own-program.ts';
import { onEndSignal } from '../signals.ts';
import { workingFolder } from '../working-folder.ts';
import { noServers } from './no-servers.ts';
import { isOff } from './off.ts';

export interface CommandOptions {
  readonly config?: string | undefined;
  readonly servers?: string | undefined;
  readonly json?: boolean | undefined;
  /** Set by commands that look at servers themselves, not at what speaks for them. */
  readonly assistants?: false;
  /** Set by commands that show the configuration's warnings in their own output. */
  readonly warnings?: 'shown';
}

export interface Workplace {
  readonly config: Config;
  readonly switchboard: Switchboard;
  /** Cancelled by Ctrl-C. */
  readonly cancellation: Cancellation;
}

/** The configuration that a command's options ask for. */
export async function loadFor(options: CommandOptions): Promise<Config> {
  const cwd = workingFolder();
  const files = { configFile: options.config, serversFile: options.servers };
  const config = await loadConfig({ ...files, cwd, env: process.env });
  return options.assistants === false
    ? withoutAssistants(config)
    : withAssistants(config, assistantLaunch({ ...files, cwd }));
}

/** The same, with a word on stderr about servers that may be missing because their file is broken. */
export async function loadWithWarnings(options: CommandOptions): Promise<Config> {
  const config = await loadFor(options);
  if (options.warnings !== 'shown') printWarnings(config.missing ?? []);
  return config;
}

export function printWarnings(warnings: readonly string[]): void {
  for (const warning of warnings) {
    process.stderr.write(`warning: ${cleanText(warning).replaceAll('\n', '\n  ')}\n`);
  }
}

export async function withSwitchboard<T>(
  options: CommandOptions,
  action: (workplace: Workplace) => Promise<T>,
): Promise<T> {
  const { env, argv } = process;
  const [, program] = argv;
  const config = await loadWithWarnings(options);
  const cancellation = new Cancellation();
  onEndSignal(
    () => cancellation.cancel(new SwitchboardError('CANCELLED', 'Interrupted.')),
    ERRORS.CANCELLED.exit,
  );
  await using switchboard = new Switchboard({
    config,
    log: quietLog(config.logging),
    env,
    program,
  });
  const result = await action({ config, switchboard, cancellation });
  cancellation.throwIfCancelled();
  return result;
}

/** The children a command is about: the one that was named, or all that are not off. */
export function chosenChildren(config: Config, name: string | undefined): ChildConfig[] {
  if (name !== undefined) return [chosenChild(config, name)];
  return [...config.children.values()].filter((child) => !isOff(child));
}

/** The child of this name, off or not. */
export function chosenChild({ children, lost }: Config, name: string): ChildConfig {
  const child = children.get(name);
  if (child) return child;
  const hint = lost?.get(name);
  if (hint !== undefined) {
    throw new SwitchboardError('CHILD_UNKNOWN', `The file of server "${name}" is gone.`, { hint });
  }
  if (children.size > 0) throw unknownChild(name, [...children.keys()]);
  throw new SwitchboardError('CHILD_UNKNOWN', `No server is named "${name}".`, {
    hint: noServers(),
  });
}

/** What children print on stderr is shown only to those who look for something. */
function quietLog(settings: LogSettings): Log {
  const { level } = settings;
  const stream = process.stderr.isTTY ? overMovingLine() : process.stderr;
  if (level === 'debug') return createLog(settings, stream);
  const quiet = isWritten('warn', level) ? 'warn' : level;
  return { ...createLog({ ...settings, level: quiet }, stream), child: () => {} };
}

/** stderr, where a line that moves (progress.ts) may stand at the moment: it is drawn again soon. */
function overMovingLine(): Writable {
  return new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => {
      process.stderr.write(`\r\u001b[K${text}`, done);
    },
  });
}
