// Shared by all transports: stdout reserved for the protocol, a log, and the project, whose configuration is
// announced in that log.
import type { Writable } from 'node:stream';
import { withAssistants } from '../../assistant/wrap.ts';
import { type AdjustableLog, createLog } from '../../base/log.ts';
import { type Config, isOff } from '../../config/config.ts';
import { isScript } from '../../config/files/files.ts';
import { findFolders } from '../../config/files/places.ts';
import { harmlessName, type Judge } from '../../config/judge.ts';
import { resolveLogging } from '../../config/settings/logging.ts';
import type { UnsavedStart } from '../../load-start.ts';
import { type Loaded, Project, type ProjectOptions } from '../../project.ts';
import type { OpenAssistant } from '../../switchboard.ts';
import { keepCompiledStart } from '../compiled-start.ts';
import { assistantLaunch, type OwnCommandOptions, relaunchWith } from '../own-program.ts';
import { onEndSignal } from '../signals.ts';
import { createQuietLog } from '../terminal/quiet-log.ts';
import { workingFolder } from '../working-folder.ts';

export interface ServeOptions {
  readonly configFile?: string | undefined;
  readonly serversFile?: string | undefined;
  /** `--trust`. */
  readonly trust?: string | undefined;
}

const NOTHING: ReadonlySet<string> = new Set();
/** Not before the host has its first answers. */
const COMPILED_AFTER_MS = 1_000;

/**
 * Returns the only way to write to stdout from now on. All other output, from a configuration script or a library,
 * goes to stderr, and `console` to `messages`.
 */
export function keepStdout(messages: Writable = process.stderr): NodeJS.WriteStream['write'] {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  globalThis.console = new console.Console(messages);
  return write;
}

/** The log as set in the environment. The configuration's log settings apply once it has been read. */
export function createServingLog(
  folder: string,
  environment: NodeJS.ProcessEnv,
  stream: Writable = process.stderr,
): AdjustableLog {
  const folders = findFolders({ cwd: folder, env: environment });
  return createLog(resolveLogging(folders, { env: environment }), stream);
}

/** The same for a command that uses servers in the background process. */
export function createCommandLog(
  folder: string,
  environment: NodeJS.ProcessEnv,
  stream: Writable,
): AdjustableLog {
  const folders = findFolders({ cwd: folder, env: environment });
  return createQuietLog(resolveLogging(folders, { env: environment }), stream);
}

export interface ServedOptions
  extends ServeOptions,
    Pick<
      ProjectOptions,
      'environmentOfServers' | 'asksHosts' | 'runScript' | 'processes' | 'turns'
    > {
  readonly log: AdjustableLog;
  readonly hosts: 'one' | 'many';
  /** Whether it's for a command, which reports problems itself. */
  readonly isCommand?: boolean;
  /** How assistants are opened within this process, if not as programs of their own. */
  readonly assistantOpener?: (own: OwnCommandOptions, hosts: 'one' | 'many') => OpenAssistant;
  /** The host's folder and environment, if not those of this process. */
  readonly folder?: string;
  readonly environment?: NodeJS.ProcessEnv;
  /** Called with each configuration first; throws if it can't be served. */
  readonly check?: (config: Config) => void;
  /** Called with each configuration before it's announced. */
  readonly prepare?: (loaded: Loaded) => Promise<void>;
}

/** Opens the project this process was started in, or the one of another host. */
export function openServedProject(options: ServedOptions): Promise<Project> {
  const { log, hosts, check, prepare, assistantOpener, isCommand = false, ...rest } = options;
  const { folder = workingFolder(), environment = process.env, environmentOfServers } = options;
  const again = { ...rest, cwd: folder, env: environment };
  const launch = assistantLaunch({ ...again, hosts });
  let said = NOTHING;
  return Project.open({
    ...rest,
    folder,
    environment,
    log,
    program: process.argv[1],
    relaunch: relaunchWith(again),
    isShared: hosts === 'many',
    openAssistant: assistantOpener?.(
      { ...again, env: environmentOfServers?.(environment) ?? environment },
      hosts,
    ),
    hasAgents: !isCommand,
    announcesTrust: !isCommand,
    adapt: (config) => {
      check?.(config);
      return withAssistants(config, launch);
    },
    onLoaded: async (loaded) => {
      await prepare?.(loaded);
      if (isCommand) log.adjust(loaded.config.logging);
      else said = await announce(loaded, log, said);
    },
  });
}

/** The program's own files, saved in compiled form a while after its start. */
export function keepCompiledSoon(log: AdjustableLog, other?: UnsavedStart): NodeJS.Timeout {
  return setTimeout(() => keepCompiledStart(log, other), COMPILED_AFTER_MS).unref();
}

export interface Serving extends Disposable {
  /** Resolves when a signal tells us to stop. */
  readonly stopped: Promise<void>;
}

/** Starts background work. None of it is for the host, so it waits until the host has its first answers. */
export function beginServing(project: Project, log: AdjustableLog): Serving {
  project.endOrphansSoon();
  project.watchSoon();
  const compiled = keepCompiledSoon(log);
  // Never removed: without a listener, the signal would end the process at once.
  process.on('SIGHUP', () => void project.reload());
  return {
    stopped: new Promise((resolve) => {
      onEndSignal(resolve, 0, ['SIGINT', 'SIGTERM']);
      project.openControlSoon(resolve);
    }),
    [Symbol.dispose]: () => clearTimeout(compiled),
  };
}

/** Logs the important facts about a configuration and its agents. Returns its warnings, to be said only once. */
async function announce(
  { config, found }: Loaded,
  log: AdjustableLog,
  said: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  log.adjust(config.logging);
  // Scripts run with the user's permissions, so say that they did.
  for (const file of config.files.filter(isScript))
    log.info(`ran ${file} to load the configuration.`);
  announceTrust(config.gate?.judge, log);
  const { agents, hidden, problems, skipped } = found;
  // With agents there is something to serve, and the start stays fast.
  if (config.children.size === 0 && agents.length === 0) await suggestNearest(config, log);
  const warnings = [...config.warnings, ...invalidServers(config), ...problems];
  for (const warning of warnings) if (!said.has(warning)) log.warn(warning);
  for (const sentence of skipped) log.debug(sentence);
  if (agents.length === 0 && hidden > 0) {
    log.warn(`AGENTS_FILTER hides every agent (${hidden}).`);
  }
  return new Set(warnings);
}

/** Each once. */
function announceTrust(judge: Judge | undefined, log: AdjustableLog): void {
  for (const file of judge?.trusted ?? []) {
    log.info(`trusting ${file}: it was created on this machine, and no git repository tracks it.`);
  }
  for (const { subject } of judge?.newlyWaiting ?? []) {
    const { kind, name, file } = subject;
    log.info(`waiting for approval: ${kind} ${harmlessName(name, NOTHING)} in ${file}.`);
  }
}

/** Hosts often start us in a subfolder, where there is no configuration. */
async function suggestNearest(config: Config, log: AdjustableLog): Promise<void> {
  const { describeNearest } = await import('../../config/files/nearest.ts');
  const nearest = describeNearest(config);
  if (nearest !== undefined) {
    log.warn(`No servers are configured in ${config.project}. ${nearest}`);
  }
}

/** They may stay unused for a while, and most hosts don't show why they fail. */
function invalidServers({ children }: Config): string[] {
  const used = [...children.values()].filter((child) => !isOff(child));
  return used.flatMap(({ problem }) => (problem?.code === 'CONFIG_INVALID' ? problem.text : []));
}
