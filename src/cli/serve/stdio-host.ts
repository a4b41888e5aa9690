// The host that has started this very process and talks over its stdin and stdout.
import { describeBug } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { StdioHost } from '../../host/stdio.ts';
import { Session } from '../../session/session.ts';
import type { Surface } from '../../surface/surface.ts';
import type { Switchboard } from '../../switchboard.ts';

export interface StdioHostOptions {
  readonly log: Log;
  readonly write: NodeJS.WriteStream['write'];
  /** Shows the host something else than all children. */
  readonly openSurface?: () => Surface;
}

const LAST_WRITES_MS = 500;

export function openStdioHost(
  switchboard: Switchboard,
  { log, write, ...other }: StdioHostOptions,
): { readonly host: StdioHost; readonly session: Session } {
  process.stdout.removeAllListeners('error'); // from here on the host's leaving is an end like others
  const { flow } = switchboard.pool;
  const host = new StdioHost({
    input: process.stdin,
    output: process.stdout,
    write,
    messageLimits: switchboard.hostLimits,
    onFull: () => flow.setFull(session, true),
    onDrained: () => flow.setFull(session, false),
    onGivenUp: (bytes) =>
      log.error(`the host left ${bytes >> 20} MB unread: its connection was closed.`),
    onBug: (error) => log.error(describeBug(error)),
  });
  const session = new Session({
    ...switchboard.sessionParts,
    ...other,
    log,
    send: (json, framing) => host.send(json, framing),
  });
  flow.join(session);
  return { host, session };
}

/**
 * Serves the host until it closes its input, is gone, or we are told to end. Calls under way when its
 * input ends are answered: `echo … | switchboard` is a host like others.
 */
export async function serveStdioHost(
  { host, session }: ReturnType<typeof openStdioHost>,
  stopMs: number,
  signalled: Promise<void>,
): Promise<void> {
  await Promise.race([host.listen(session), signalled]);
  await Promise.race([session.finish(stopMs), host.gone, signalled]);
  session.close();
}

/** The host has gone; gives the exit status. */
export function leaveStdio(): number {
  process.stdin.destroy();
  // A host that never reads its last answers must not keep us here.
  setTimeout(() => process.exit(0), LAST_WRITES_MS).unref();
  return 0;
}
