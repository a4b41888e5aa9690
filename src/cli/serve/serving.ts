// What serving needs, whichever way hosts reach us: stdout kept for the protocol, the configuration read
// aloud, and read again when somebody asks for it.
import type { Writable } from 'node:stream';
import type { ListedAgent } from '../../agents/agent.ts';
import { type AgentList, listAgents } from '../../agents/list.ts';
import { withAssistants } from '../../assistant/wrap.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { type AdjustableLog, createLog, type Log } from '../../base/log.ts';
import type { Config } from '../../config/config.ts';
import { isScript } from '../../config/files/files.ts';
import { findFolders } from '../../config/files/places.ts';
import { loadConfig } from '../../config/load.ts';
import { resolveLogging } from '../../config/settings/logging.ts';
import type { Switchboard } from '../../switchboard.ts';
import { assistantLaunch } from '../own-program.ts';
import { workingFolder } from '../working-folder.ts';

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

/** All that is read before serving, and again at a reload. */
export interface Loaded {
  readonly config: Config;
  readonly agents: readonly ListedAgent[];
}

type Hosts = 'one' | 'many';

/** The log, and how the configuration is read aloud into it, now and whenever somebody asks for it. */
export function prepareServing(
  options: ServeOptions,
  hosts: Hosts = 'one',
): {
  readonly log: Log;
  readonly load: () => Promise<Loaded>;
} {
  const { env, stderr } = process;
  const cwd = workingFolder();
  // What a file says about the log follows with the configuration.
  const log = createLog(resolveLogging(findFolders({ cwd, env }), { env }), stderr);
  return { log, load: () => loadAloud({ ...options, cwd, hosts }, log) };
}

/** Reads the configuration, looks for agents, and says what is worth knowing about both. */
async function loadAloud(
  options: ServeOptions & { readonly cwd: string; readonly hosts: Hosts },
  log: AdjustableLog,
): Promise<Loaded> {
  const loaded = await loadConfig({ ...options, env: process.env });
  const config = withAssistants(loaded, assistantLaunch(options));
  log.adjust(config.logging);
  // A project's file was run with the user's rights: that is worth a word.
  for (const file of config.files.filter(isScript)) log.info(`ran ${file} for the configuration.`);
  const { agents, hidden, problems, skipped } = await findAgents(config);
  if (config.children.size === 0) await sayWhereSomeAre(config, log);
  for (const warning of [...config.warnings, ...invalidServers(config), ...problems]) {
    log.warn(warning);
  }
  for (const sentence of skipped) log.debug(sentence);
  if (agents.length === 0 && hidden > 0) {
    log.warn(`AGENTS_FILTER lets none of the agents through that there are (${hidden}).`);
  }
  return { config, agents };
}

/** Hosts often start us in a subfolder, in which nothing is found. */
async function sayWhereSomeAre(config: Config, log: AdjustableLog): Promise<void> {
  const { describeNearest } = await import('../../config/files/nearest.ts');
  const nearest = describeNearest(config);
  if (nearest !== undefined) {
    log.warn(`No servers are configured in ${config.project}. ${nearest}`);
  }
}

/** Nobody may use them for a while, and their hosts don't show why. */
function invalidServers({ children }: Config): string[] {
  const used = [...children.values()].filter(({ show }) => show !== 'off');
  return used.flatMap(({ problem }) => (problem?.code === 'CONFIG_INVALID' ? problem.text : []));
}

/** Where agents are not shown, nobody looks for them. */
async function findAgents(config: Config): Promise<AgentList> {
  const { agents: settings } = config;
  return settings.show === 'off' ? NO_AGENTS : listAgents({ ...config, settings });
}

const NO_AGENTS: AgentList = { agents: [], hidden: 0, folders: [], problems: [], skipped: [] };

export type Reload = () => Promise<{ readonly ok: boolean; readonly message: string }>;

/** Reads the configuration again, one time after the other; one that cannot be read changes nothing. */
export function createReload(
  switchboard: Switchboard,
  load: () => Promise<Loaded>,
  log: Log,
): Reload {
  let last: Promise<unknown> = Promise.resolve();
  const reload: Reload = async () => {
    try {
      const { config, agents } = await load();
      switchboard.update(config, agents);
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
