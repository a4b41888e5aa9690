// `switchboard` and `switchboard serve`: the server that a host starts. Everything a host asks for
// at its start is answered from configuration and catalog; no child is started for it.
import type { Log } from '../../base/log.ts';
import { Switchboard } from '../../switchboard.ts';
import { onEndSignal } from '../signals.ts';
import { aboutServing } from './about.ts';
import { accompany } from './accompany.ts';
import { keepStdout, type Loaded, prepareServing, type ServeOptions } from './serving.ts';
import { leaveStdio, openStdioHost, serveStdioHost } from './stdio-host.ts';

/** A host that never says that it is ready: from then on children are started all the same. */
const READY_AFTER_MS = 1_000;

export async function serve(options: ServeOptions): Promise<number> {
  if (process.stdin.isTTY) {
    process.stderr.write(aboutServing(process.argv[1] ?? 'switchboard'));
    return 0;
  }
  const write = keepStdout();
  const { log, load } = prepareServing(options);
  warnOfTransport(process.env['TRANSPORT'], log);
  await serveUntilHostGoes(await load(), load, log, write);
  return leaveStdio();
}

/** Who wanted HTTP and got this has to know why nobody listens. */
function warnOfTransport(said: string | undefined, log: Log): void {
  if (!said || said.toLowerCase() === 'stdio') return;
  log.warn('TRANSPORT must be stdio or http; what it says is ignored.');
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
  const opened = openStdioHost(switchboard, { log, write });
  const ready = setTimeout(() => switchboard.board.begin(), READY_AFTER_MS).unref();
  const sessions = () => [opened.session.report];
  const beside = accompany(switchboard, { config, load, log, sessions });
  const signalled = new Promise<void>((resolve) => onEndSignal(resolve, 0, ['SIGINT', 'SIGTERM']));
  await serveStdioHost(opened, config.stopMs, signalled);
  clearTimeout(ready);
  await beside[Symbol.asyncDispose]();
}
