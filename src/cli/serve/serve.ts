// `switchboard` and `switchboard serve`: the server that a host starts. Everything a host asks for at its start is
// answered from configuration and catalog; no server is started for it.
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

/** For hosts that never say they are ready: after this, servers are started anyway. */
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
  await using project = await openServedProject({ ...options, log, hosts: 'one' });
  const { switchboard } = project;
  const ready = setTimeout(() => switchboard.board.begin(), READY_AFTER_MS).unref();
  using serving = beginServing(project, log);
  await serveStdioHost(switchboard, { log, write }, serving.stopped);
  clearTimeout(ready);
}

/** A user who wants HTTP should know why nothing listens. */
function warnOfTransport(transport: string | undefined, log: Log): void {
  if (!transport || transport.toLowerCase() === 'stdio') return;
  log.warn('ignoring TRANSPORT: it must be stdio or http.');
}
