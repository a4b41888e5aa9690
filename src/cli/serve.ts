// `switchboard` and `switchboard serve`: the server that a host starts. Everything a host asks for
// at its start is answered from configuration and catalog; no child is started for it.
import type { Log } from '../base/log.ts';
import { openControlLater } from '../host/control-later.ts';
import { createReport } from '../host/status-report.ts';
import { Switchboard } from '../switchboard.ts';
import { aboutServing } from './about.ts';
import {
  createReload,
  keepStdout,
  type Loaded,
  prepareServing,
  type ServeOptions,
} from './serving.ts';
import { onEndSignal } from './signals.ts';
import { leaveStdio, openStdioHost } from './stdio-host.ts';

/** What is not for the host is done when it has got its first answers. */
const OTHER_THINGS_AFTER_MS = 1_000;
/** `status` and `reload` are to find us soon. */
const CONTROL_AFTER_MS = 200;
/** A host that never says that it is ready: from then on children are started all the same. */
const READY_AFTER_MS = 1_000;

export async function serve(options: ServeOptions): Promise<number> {
  if (process.stdin.isTTY) {
    process.stderr.write(aboutServing(process.argv[1] ?? 'switchboard'));
    return 0;
  }
  const write = keepStdout();
  const { log, load } = prepareServing(options);
  await serveUntilHostGoes(await load(), load, log, write);
  return leaveStdio();
}

async function serveUntilHostGoes(
  { config, agents }: Loaded,
  load: () => Promise<Loaded>,
  log: Log,
  write: NodeJS.WriteStream['write'],
): Promise<void> {
  const { env, argv } = process;
  const [, program] = argv;
  await using switchboard = new Switchboard({ config, log, env, agents, program });
  const { host, session } = openStdioHost(switchboard, { config, log, write });
  const ready = setTimeout(() => switchboard.board.begin(), READY_AFTER_MS).unref();
  const orphans = setTimeout(() => void switchboard.endOrphans(), OTHER_THINGS_AFTER_MS).unref();
  const reload = createReload(switchboard, load, log);
  const control = openControlLater({
    afterMs: CONTROL_AFTER_MS,
    home: config.home,
    project: config.project,
    log,
    methods: {
      status: () => createReport({ ...switchboard.facts, sessions: [session.report] }),
      reload,
    },
  });
  process.on('SIGHUP', () => void reload());
  const signalled = new Promise<void>((resolve) => onEndSignal(resolve, 0, ['SIGINT', 'SIGTERM']));
  await Promise.race([host.listen(session), signalled]);
  clearTimeout(ready);
  clearTimeout(orphans);
  session.close();
  await control[Symbol.asyncDispose]();
}
