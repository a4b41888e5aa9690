// `switchboard` and `switchboard serve`: the server that a host starts. The host's first requests are answered from
// the configuration and the catalog, without starting any server.
import type { Log } from '../../base/log.ts';
import { workingFolder } from '../working-folder.ts';
import {
  beginServing,
  createServingLog,
  keepStdout,
  openServedProject,
  type ServeOptions,
} from './serving.ts';
import { explainOnTerminal, leaveStdio, serveStdioHost } from './stdio-host.ts';

/** Servers start after this many milliseconds even if the host never reports that it's ready. */
const READY_AFTER_MS = 1_000;

export async function serve(options: ServeOptions): Promise<number> {
  if (explainOnTerminal()) return 0;
  await serveUntilHostGoes(options, keepStdout());
  return leaveStdio();
}

async function serveUntilHostGoes(
  options: ServeOptions,
  write: NodeJS.WriteStream['write'],
): Promise<void> {
  const log = createServingLog(workingFolder(), process.env);
  warnOfTransport(process.env['TRANSPORT'], log);
  await using project = await openServedProject({
    ...options,
    log,
    hosts: 'one',
    asksHosts: true,
  });
  const { switchboard } = project;
  const ready = setTimeout(() => switchboard.board.begin(), READY_AFTER_MS).unref();
  using serving = beginServing(project, log);
  await serveStdioHost(switchboard, { log, write }, serving.stopped);
  clearTimeout(ready);
}

/** Explains to a user who wants HTTP why nothing listens. */
function warnOfTransport(transport: string | undefined, log: Log): void {
  if (!transport || transport.toLowerCase() === 'stdio') return;
  log.warn('ignoring TRANSPORT: it must be stdio or http.');
}
