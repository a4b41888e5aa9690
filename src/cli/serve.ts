// `switchboard` and `switchboard serve`: the server that a host starts. Everything a host asks for
// at its start is answered from configuration and catalog; no child is started for it.
import { SwitchboardError } from '../base/errors.ts';
import { createLog, type Log, logLevel } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { openControlLater } from '../host/control-later.ts';
import { createReport } from '../host/status-report.ts';
import { StdioHost } from '../host/stdio.ts';
import { Session } from '../session/session.ts';
import { Switchboard } from '../switchboard.ts';
import { aboutServing } from './about.ts';
import { onEndSignal } from './signals.ts';
import { workingFolder } from './working-folder.ts';

export interface ServeOptions {
  readonly configFile?: string | undefined;
  readonly serversFile?: string | undefined;
}

/** What is not for the host is done when it has got its first answers. */
const OTHER_THINGS_AFTER_MS = 1_000;
/** A host that never says that it is ready: from then on children are started all the same. */
const READY_AFTER_MS = 1_000;
const LAST_WRITES_MS = 500;

export async function serve(options: ServeOptions): Promise<number> {
  if (process.stdin.isTTY) {
    process.stderr.write(aboutServing(process.argv[1] ?? 'switchboard'));
    return 0;
  }
  globalThis.console = new console.Console(process.stderr);
  const log = createLog(logLevel(process.env), process.stderr);
  const cwd = workingFolder();
  const load = (): Promise<Config> => loadAloud({ ...options, cwd }, log);
  await serveUntilHostGoes(await load(), load, log);
  process.stdin.destroy();
  // A host that never reads its last answers must not keep us here.
  setTimeout(() => process.exit(0), LAST_WRITES_MS).unref();
  return 0;
}

/** Reads the configuration and says what is worth knowing about it. */
async function loadAloud(options: ServeOptions & { cwd: string }, log: Log): Promise<Config> {
  const config = await withoutPrinting(() => loadConfig({ ...options, env: process.env }));
  for (const file of config.files.filter(isProgram)) log.info(`ran ${file} for the configuration.`);
  for (const warning of config.warnings) log.warn(warning);
  return config;
}

/** stdout is the protocol's: what a configuration that is code prints goes beside our log. */
async function withoutPrinting<T>(load: () => Promise<T>): Promise<T> {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  try {
    return await load();
  } finally {
    stdout.write = write;
  }
}

/** A configuration that is code is worth a word: a project's file was run with the user's rights. */
function isProgram(file: string): boolean {
  return /\.[cm]?js$/.test(file);
}

async function serveUntilHostGoes(
  config: Config,
  load: () => Promise<Config>,
  log: Log,
): Promise<void> {
  process.stdout.removeAllListeners('error'); // from here on the host's leaving is an end like others
  await using switchboard = new Switchboard({ config, log, env: process.env });
  const { messageBytes } = config;
  const host = new StdioHost({
    input: process.stdin,
    output: process.stdout,
    messageBytes,
    onFull: () => switchboard.pool.pause(),
    onDrained: () => switchboard.pool.resume(),
  });
  const session = new Session({
    openSurface: (audience) => switchboard.board.open(audience),
    log,
    messageBytes,
    send: (json, framing) => host.send(json, framing),
    onReady: () => switchboard.board.begin(),
  });
  const ready = setTimeout(() => switchboard.board.begin(), READY_AFTER_MS).unref();
  const orphans = setTimeout(() => void switchboard.endOrphans(), OTHER_THINGS_AFTER_MS).unref();
  const control = openControlLater({
    afterMs: OTHER_THINGS_AFTER_MS,
    home: config.home,
    project: config.project,
    log,
    methods: {
      status: () => createReport({ ...switchboard.facts, sessions: [session.report] }),
      reload: () => reload(switchboard, load, log),
    },
  });
  process.on('SIGHUP', () => void reload(switchboard, load, log));
  const signalled = new Promise<void>((resolve) => onEndSignal(resolve, 0, ['SIGINT', 'SIGTERM']));
  await Promise.race([host.listen(session), signalled]);
  clearTimeout(ready);
  clearTimeout(orphans);
  session.close();
  await control[Symbol.asyncDispose]();
}

/** Reads the configuration again; one that cannot be read changes nothing. */
async function reload(
  switchboard: Switchboard,
  load: () => Promise<Config>,
  log: Log,
): Promise<{ readonly ok: boolean; readonly message: string }> {
  try {
    const config = await load();
    switchboard.update(config);
    const message = `read the configuration again: ${config.files.join(', ') || 'no files'}.`;
    log.info(message);
    return { ok: true, message };
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    const message = `the configuration was not taken over, the one before stays: ${error.text}`;
    log.error(message);
    return { ok: false, message };
  }
}
