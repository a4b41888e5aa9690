// Shared by all commands that use servers: the configuration, a Switchboard, and Ctrl-C handling.
import { Writable } from 'node:stream';
import { withAssistants, withoutAssistants } from '../../assistant/wrap.ts';
import { Cancellation } from '../../base/cancellation.ts';
import { ERRORS, SwitchboardError } from '../../base/errors.ts';
import { type AdjustableLog, createLog, type LogSettings } from '../../base/log.ts';
import { isWritten } from '../../base/log-level.ts';
import { cleanText } from '../../base/text.ts';
import { type ChildConfig, type Config, isOff } from '../../config/config.ts';
import { findFolders } from '../../config/files/places.ts';
import { loadConfig } from '../../config/load.ts';
import { resolveLogging } from '../../config/settings/logging.ts';
import { unknownChild } from '../../pool/pool.ts';
import { Project } from '../../project.ts';
import type { Switchboard } from '../../switchboard.ts';
import { assistantLaunch } from '../own-program.ts';
import { onEndSignal } from '../signals.ts';
import { workingFolder } from '../working-folder.ts';
import { noServers } from './no-servers.ts';

export interface CommandOptions {
  readonly config?: string | undefined;
  readonly servers?: string | undefined;
  readonly json?: boolean | undefined;
  /** Set by commands that use servers directly, not through their assistants. */
  readonly assistants?: false;
  /** Set by commands that include the configuration's warnings in their output. */
  readonly warnings?: 'shown';
}

export interface CommandContext {
  readonly config: Config;
  readonly switchboard: Switchboard;
  /** Cancelled by Ctrl-C. */
  readonly cancellation: Cancellation;
}

/** Loads the configuration for a command's options. */
export async function loadFor(options: CommandOptions): Promise<Config> {
  const place = placeOf(options);
  return adaptFor(options, place)(await loadConfig(place));
}

function placeOf({ config, servers }: CommandOptions) {
  const cwd = workingFolder();
  return { configFile: config, serversFile: servers, cwd, env: process.env };
}

function adaptFor({ assistants }: CommandOptions, place: ReturnType<typeof placeOf>) {
  if (assistants === false) return withoutAssistants;
  const launch = assistantLaunch(place);
  return (config: Config) => withAssistants(config, launch);
}

/** Also warns on stderr about servers that may be missing because of a broken file. */
export async function loadWithWarnings(options: CommandOptions): Promise<Config> {
  const config = await loadFor(options);
  warnOfMissing(config, options);
  return config;
}

function warnOfMissing({ missing = [] }: Config, { warnings }: CommandOptions): void {
  if (warnings !== 'shown') printWarnings(missing);
}

export function printWarnings(warnings: readonly string[]): void {
  for (const warning of warnings) {
    process.stderr.write(`warning: ${cleanText(warning).replaceAll('\n', '\n  ')}\n`);
  }
}

export async function withSwitchboard<T>(
  options: CommandOptions,
  action: (context: CommandContext) => Promise<T>,
): Promise<T> {
  const place = placeOf(options);
  const { cwd: folder, env: environment, ...files } = place;
  const log = createQuietLog(resolveLogging(findFolders(place), { env: environment }));
  await using project = await Project.open({
    ...files,
    folder,
    environment,
    log,
    program: process.argv[1],
    adapt: adaptFor(options, place),
    onLoaded: ({ config }) => {
      log.adjust(config.logging);
      warnOfMissing(config, options);
    },
  });
  const cancellation = new Cancellation();
  onEndSignal(
    () => cancellation.cancel(new SwitchboardError('CANCELLED', 'Interrupted.')),
    ERRORS.CANCELLED.exit,
  );
  const { config, switchboard } = project;
  const result = await action({ config, switchboard, cancellation });
  cancellation.throwIfCancelled();
  return result;
}

/** The server that was named, or all that aren't off. */
export function chosenChildren(config: Config, name: string | undefined): ChildConfig[] {
  if (name !== undefined) return [chosenChild(config, name)];
  return [...config.children.values()].filter((child) => !isOff(child));
}

/** Finds a server by name, even if it's off. */
export function chosenChild({ children, lost }: Config, name: string): ChildConfig {
  const child = children.get(name);
  if (child) return child;
  const hint = lost?.get(name);
  if (hint !== undefined) {
    throw new SwitchboardError(
      'CHILD_UNKNOWN',
      `The file that declares server "${name}" is missing.`,
      { hint },
    );
  }
  if (children.size > 0) throw unknownChild(name, [...children.keys()]);
  throw new SwitchboardError('CHILD_UNKNOWN', `No server is named "${name}".`, {
    hint: noServers(),
  });
}

/** Shows warnings and errors, and servers' stderr only when debugging. */
function createQuietLog(first: LogSettings): AdjustableLog {
  let { level } = first;
  const log = createLog(quieten(first), process.stderr.isTTY ? aboveStatusLine() : process.stderr);
  return {
    ...log,
    child: (name, line) => {
      if (level === 'debug') log.child(name, line);
    },
    adjust: (settings) => {
      level = settings.level;
      log.adjust(quieten(settings));
    },
  };
}

function quieten(settings: LogSettings): LogSettings {
  const { level } = settings;
  if (level === 'debug' || !isWritten('warn', level)) return settings;
  return { ...settings, level: 'warn' };
}

/** Clears the status line (progress.ts) first; it is redrawn with the next tick. */
function aboveStatusLine(): Writable {
  return new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => {
      process.stderr.write(`\r\u001b[K${text}`, done);
    },
  });
}
