// The host that started this process and talks to it over stdin and stdout.
import { describeBug } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { StdioHost } from '../../host/stdio.ts';
import type { Surface } from '../../surface/surface.ts';
import type { ConnectedSession, Switchboard } from '../../switchboard.ts';

export interface StdioHostOptions {
  readonly log: Log;
  readonly write: NodeJS.WriteStream['write'];
  /** Shows the host something other than all servers. */
  readonly openSurface?: () => Surface;
}

const LAST_WRITES_MS = 500;

/** If a user started the server by hand, explains how to use it. */
export function explainOnTerminal(): boolean {
  if (!process.stdin.isTTY) return false;
  process.stderr.write(aboutServing(process.argv[1] ?? 'switchboard'));
  return true;
}

/** `program` is the path to the running program, which a host has to start. */
function aboutServing(program: string): string {
  const entry = { mcpServers: { switchboard: { command: 'node', args: [program] } } };
  return `Switchboard is an MCP server: a host such as Claude Code, Codex or Cursor starts it and
talks to it over stdin. This is a terminal, so there is no host to talk to.

To use it, add it to your host, for example
  claude mcp add --scope user switchboard -- node ${program}
or, in a host's configuration file
  ${JSON.stringify(entry)}

To look at your servers from here
  node ${program} doctor        start each server and report problems
  node ${program} tools         list the tools of all servers
  node ${program} --help        all commands
`;
}

/**
 * Serves the host until it closes its input, disconnects, or a signal tells us to stop. Requests in progress when
 * its input ends are still answered: `echo … | switchboard` is a host like any other.
 */
export async function serveStdioHost(
  switchboard: Switchboard,
  options: StdioHostOptions,
  signalled: Promise<void>,
): Promise<void> {
  const { host, connected } = openStdioHost(switchboard, options);
  const { session } = connected;
  await Promise.race([host.listen(session), signalled]);
  await Promise.race([session.finish(switchboard.config.stopMs), host.gone, signalled]);
  connected.close();
}

function openStdioHost(
  switchboard: Switchboard,
  { log, write, ...shown }: StdioHostOptions,
): { readonly host: StdioHost; readonly connected: ConnectedSession } {
  process.stdout.removeAllListeners('error'); // from here on, a host that disconnects is a normal end
  const host = new StdioHost({
    input: process.stdin,
    output: process.stdout,
    write,
    messageLimits: switchboard.hostLimits,
    onFull: () => connected.setFull(true),
    onDrained: () => connected.setFull(false),
    onGivenUp: (bytes) =>
      log.error(`the host left ${bytes >> 20} MB unread: its connection was closed.`),
    onBug: (error) => log.error(describeBug(error)),
  });
  const connected = switchboard.openSession({
    ...shown,
    send: (json, framing) => host.send(json, framing),
    sendPieces: (json) => host.sendPieces(json),
  });
  return { host, connected };
}

/** The host has gone; returns the exit status. */
export function leaveStdio(): number {
  process.stdin.destroy();
  // A host that never reads its last answers must not keep us running.
  setTimeout(() => process.exit(0), LAST_WRITES_MS).unref();
  return 0;
}
