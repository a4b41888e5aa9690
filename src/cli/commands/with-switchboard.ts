// Shared by all commands that use servers: the configuration, a Switchboard, and Ctrl-C handling.
import { resolve } from 'node:path';
import { Writable } from 'node:stream';
import { withAssistants, withoutAssistants } from '../../assistant/wrap.ts';
import { type CommandServers, OwnServers } from '../../background/command-servers.ts';
import { formatServeArguments } from '../../background/hello.ts';
import { type BackgroundServers } from '../../background/use-servers.ts';
import { Cancellation } from '../../base/cancellation.ts';
import { describeBug, ERRORS, SwitchboardError } from '../../base/errors.ts';
import type { AdjustableLog } from '../../base/log.ts';
import { cleanText } from '../../base/text.ts';
import { type ChildConfig, type Config, isOff } from '../../config/config.ts';
import { fullLayers, type Layer } from '../../config/files/layers.ts';
import { readLayers } from '../../config/files/main-files.ts';
import { findFolders, type Places } from '../../config/files/places.ts';
import { isWaiting, type JudgedSubject } from '../../config/judge.ts';
import { loadConfig } from '../../config/load.ts';
import { resolveLogging } from '../../config/settings/logging.ts';
import { unknownChild } from '../../pool/pool.ts';
import { Project } from '../../project.ts';
import type { Switchboard } from '../../switchboard.ts';
import { judgeOpener, saveJudged } from '../../trust/approvals/open.ts';
import { keyOf } from '../../trust/approvals/store.ts';
import { noteApprovals } from '../../trust/audit/events.ts';
import { assistantLaunch, relaunchWith } from '../own-program.ts';
import { isOn } from '../serve/http-options.ts';
import { onEndSignal } from '../signals.ts';
import { withAudit } from '../terminal/audited.ts';
import { createQuietLog } from '../terminal/quiet-log.ts';
import { workingFolder } from '../working-folder.ts';
import { noServers } from './no-servers.ts';

export interface CommandOptions {
  readonly config?: string | undefined;
  readonly servers?: string | undefined;
  readonly trust?: string | undefined;
  /** The project's folder, if not the one the command was started in. */
  readonly folder?: string | undefined;
  /** Set by commands that need everything that was judged. */
  readonly lists?: boolean | undefined;
  readonly json?: boolean | undefined;
  /** Set by commands that use servers directly, not through their assistants. */
  readonly assistants?: false;
  /** Set by commands that include the configuration's warnings in their output. */
  readonly warnings?: 'shown';
  /** The command's name, if it uses the servers of the background process when there is one. */
  readonly joinsAs?: string;
}

export interface CommandContext {
  readonly config: Config;
  readonly switchboard: Switchboard;
  readonly servers: CommandServers;
  /** Cancelled by Ctrl-C. */
  readonly cancellation: Cancellation;
}

/** Loads the configuration for a command's options. */
export async function loadFor(options: CommandOptions): Promise<Config> {
  const place = placeOf(options);
  const config = await loadConfig({ ...place, openJudge: judgeOpener({ lists: options.lists }) });
  await saveTrusted(config);
  return adaptFor(options, place)(config);
}

/** Records what was trusted without asking. */
async function saveTrusted(config: Config): Promise<void> {
  const trusted = saveJudged(config);
  if (trusted.length === 0 || !config.audit) return;
  await withAudit(config, async (audit) => noteApprovals(audit, trusted));
}

/** The main files as a command may edit them, with everything a project's file says about its own servers. */
export async function layersFor(options: CommandOptions): Promise<{
  readonly places: Places;
  readonly layers: readonly Layer[];
}> {
  const { places, layers } = await readLayers({ ...placeOf(options), openJudge: judgeOpener() });
  return { places, layers: fullLayers(layers) };
}

function placeOf({ config, servers, trust, folder }: CommandOptions) {
  const files = { configFile: config, serversFile: servers, trust };
  if (folder === undefined) return { ...files, cwd: workingFolder(), env: process.env };
  const cwd = resolve(workingFolder(), folder);
  return { ...files, cwd, env: { ...process.env, WORKSPACE_DIR: cwd } };
}

/** Everything in the project that was judged. */
export async function judgedFor(options: CommandOptions): Promise<{
  readonly config: Config;
  readonly judged: readonly JudgedSubject[];
}> {
  const { cwd: _cwd, ...place } = placeOf(options);
  const config = await loadFor({ ...options, lists: true });
  const { judgeAgentFiles } = await import('../../agents/judged.ts');
  await judgeAgentFiles(config, place.env);
  await saveTrusted(config);
  return { config, judged: config.gate?.judge?.judged ?? [] };
}

/**
 * Approves what a command of the user's has written to a project's file. What was pending before stays pending.
 */
export async function approveWritten(
  options: CommandOptions,
  before: Pick<Config, 'gate'>,
): Promise<void> {
  const config = await loadFor(options);
  const { gate } = config;
  const known = before.gate?.judge?.judged ?? [];
  const waited = new Set(
    known.filter(({ verdict }) => verdict !== 'approved').map(({ subject }) => keyOf(subject)),
  );
  const written = (gate?.judge?.judged ?? []).filter(
    ({ subject, verdict }) =>
      isWaiting(verdict) && !subject.needsDecision && !waited.has(keyOf(subject)),
  );
  if (written.length === 0) return;
  const { recordDecisions } = await import('../../trust/approvals/decide.ts');
  await withAudit(config, (audit) =>
    recordDecisions(config.home, written, 'approved', 'command', audit),
  );
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
  const stream = process.stderr.isTTY ? aboveStatusLine() : process.stderr;
  const log = createQuietLog(resolveLogging(findFolders(place), { env: environment }), stream);
  await using project = await Project.open({
    ...files,
    folder,
    environment,
    log,
    program: process.argv[1],
    relaunch: relaunchWith(place),
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
  await using joined = await joinFor(options, place, { config, stream, log });
  const servers = joined ?? new OwnServers(switchboard);
  const result = await action({ config, switchboard, servers, cancellation });
  cancellation.throwIfCancelled();
  return result;
}

/** The servers of the background process; undefined if the command has to start its own. */
async function joinFor(
  { joinsAs }: CommandOptions,
  place: ReturnType<typeof placeOf>,
  { config, stream, log }: { config: Config; stream: Writable; log: AdjustableLog },
): Promise<BackgroundServers | undefined> {
  const { cwd: folder, env: environment } = place;
  if (joinsAs === undefined || config.shared === false) return undefined;
  if (isOn(environment['SWITCHBOARD_ALONE'])) return undefined;
  const { joinForCommand } = await import('../../background/use-servers.ts');
  return joinForCommand({
    command: `switchboard ${joinsAs}`,
    folder,
    environment,
    args: formatServeArguments(place),
    pid: process.pid,
    onLog: (text) => void stream.write(text.toString()),
    onBug: (error) => log.error(describeBug(error)),
  });
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

/** Clears the status line (progress.ts) first; it is redrawn with the next tick. */
function aboveStatusLine(): Writable {
  return new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => {
      process.stderr.write(`\r\u001b[K${text}`, done);
    },
  });
}
