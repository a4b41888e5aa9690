// `switchboard` and `switchboard serve`: the server that a host starts. Everything a host asks for
// at its start is answered from the configuration; no child is started for it.
import { createLog, type Log, logLevel } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { StdioHost } from '../host/stdio.ts';
import { Session } from '../session/session.ts';
import { Switchboard } from '../switchboard.ts';
import { aboutServing } from './about.ts';
import { onEndSignal } from './signals.ts';
import { workingFolder } from './working-folder.ts';

export interface ServeOptions {
  readonly configFile?: string | undefined;
}

/** What an earlier run left behind is looked for when the host has got its first answers. */
const ORPHANS_AFTER_MS = 1_000;
const LAST_WRITES_MS = 500;

export async function serve({ configFile }: ServeOptions): Promise<number> {
  if (process.stdin.isTTY) {
    process.stderr.write(aboutServing(process.argv[1] ?? 'switchboard'));
    return 0;
  }
  const log = createLog(logLevel(process.env), process.stderr);
  const config = await withoutPrinting(() =>
    loadConfig({ cwd: workingFolder(), env: process.env, configFile }),
  );
  for (const file of config.files.filter(isProgram)) log.info(`ran ${file} for the configuration.`);
  for (const warning of config.warnings) log.warn(warning);
  await serveUntilHostGoes(config, log);
  process.stdin.destroy();
  // A host that never reads its last answers must not keep us here.
  setTimeout(() => process.exit(0), LAST_WRITES_MS).unref();
  return 0;
}

/** stdout is the protocol's: what a configuration that is code prints goes beside our log. */
async function withoutPrinting<T>(load: () => Promise<T>): Promise<T> {
  globalThis.console = new console.Console(process.stderr);
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

async function serveUntilHostGoes(config: Config, log: Log): Promise<void> {
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
    surface: switchboard.suites,
    log,
    messageBytes,
    send: (json, framing) => host.send(json, framing),
  });
  const orphans = setTimeout(() => void switchboard.endOrphans(), ORPHANS_AFTER_MS).unref();
  const signalled = new Promise<void>((resolve) => onEndSignal(resolve, 0));
  await Promise.race([host.listen(session), signalled]);
  clearTimeout(orphans);
  session.close();
}
