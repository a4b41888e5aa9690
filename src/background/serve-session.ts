// One session of a host in the background process: a project of its own, fed through a link. It behaves like a
// Switchboard that serves alone; only the way to the host is longer.
import { describeBug, SwitchboardError } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import type { AdjustableLog } from '../base/log.ts';
import { settleWithin } from '../base/time.ts';
import type { Project } from '../project.ts';
import { packError } from './command-link.ts';
import { FRAME } from './frames.ts';
import type { Hello, Refusal } from './hello.ts';
import type { EntryLink } from './link.ts';
import { openLinkedHost } from './linked-host.ts';
import { GoneEntry, type OpenedSession, openAndKeepAlive } from './open-session.ts';
import { type HttpListener, Refused, type SessionParts } from './session-parts.ts';

const HTTP_COMMAND = 'switchboard serve --http';

/** Servers start after this many milliseconds even if the host never reports that it's ready. */
const READY_AFTER_MS = 1_000;
/** The host's requests wait for servers to be switched on again, but not longer than this. */
const LONGEST_RESTORE_MS = 10_000;

/** Resolves when the session is over and its servers have stopped, with false if it was refused. */
export async function serveSession(
  link: EntryLink,
  hello: Hello,
  parts: SessionParts,
  signalled: Promise<void>,
): Promise<boolean> {
  try {
    await using opened = await openAndKeepAlive(link, hello, parts);
    await using listener = await openListener(link, hello, parts, opened);
    const { project, log } = opened;
    const { pid: entry } = hello;
    const command = listener ? HTTP_COMMAND : hello.command;
    let stop = (): void => {};
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
    });
    using known = parts.onOpen?.({ project, startedAt: new Date().toISOString(), entry, command });
    if (!known) project.openControlSoon(stop);
    link.send(FRAME.accepted);
    if (listener) {
      // Another background process has to listen there, too.
      link.send(FRAME.snapshot, { port: listener.port });
      await serveUntilStopped(link, project, log, signalled);
    } else if (command === undefined) {
      await serveUntilHostGoes(link, hello, opened, Promise.race([signalled, stopped]));
    } else {
      const { serveCommand } = await import('./serve-command.ts');
      await serveCommand(link, project, log, signalled);
    }
    return true;
  } catch (error) {
    // An invalid configuration: serving alone, the entry reports it as usual.
    const refused = error instanceof SwitchboardError || error instanceof GoneEntry;
    if (!refused && !(error instanceof Refused)) throw error;
    link.send(FRAME.refused, error instanceof Refused ? error.refusal : refusalFor(error, hello));
    return false;
  }
}

function refusalFor(error: Error, { http }: Hello): Refusal {
  const refusal = { reason: error.message, isExpected: true, isOver: false };
  if (!http || !(error instanceof SwitchboardError)) return refusal;
  return { ...refusal, failed: packError(error) };
}

/** Undefined if the session isn't for hosts over HTTP. */
async function openListener(
  link: EntryLink,
  { http: flags, generation }: Hello,
  parts: SessionParts,
  { project, environment, log }: OpenedSession,
): Promise<HttpListener | undefined> {
  if (!flags) return undefined;
  const say = (text: string): void => void link.errors.write(text);
  return parts.openListener({ project, flags, environment, log, say, isAgain: generation > 0 });
}

/** Hosts come and go meanwhile. */
async function serveUntilStopped(
  link: EntryLink,
  project: Project,
  log: AdjustableLog,
  signalled: Promise<void>,
): Promise<void> {
  const stopped = listenToEntry(link, project, log);
  project.endOrphansSoon();
  project.watchSoon();
  await Promise.race([stopped, signalled, link.closed]);
}

async function serveUntilHostGoes(
  link: EntryLink,
  hello: Hello,
  { project, log }: OpenedSession,
  signalled: Promise<void>,
): Promise<void> {
  const { switchboard } = project;
  const stopped = listenToEntry(link, project, log);
  const ended = Promise.race([stopped, signalled, link.closed]);
  const begin = guard(
    (error) => log.error(describeBug(error)),
    () => switchboard.board.begin(),
  );
  const ready = setTimeout(begin, READY_AFTER_MS).unref();
  project.endOrphansSoon();
  project.watchSoon();
  const { host, session, restored, listen, close } = openLinkedHost(switchboard, link, hello, log);
  if (hello.snapshot !== undefined) {
    await Promise.race([settleWithin(restored, LONGEST_RESTORE_MS), ended]);
  }
  await Promise.race([listen(), ended]);
  await Promise.race([session.finish(project.config.stopMs), host.gone, ended]);
  close();
  clearTimeout(ready);
  // The last responses are written at the end of this turn, and the link's end must not overtake them.
  await new Promise((resolve) => setImmediate(resolve));
}

/** Resolves when the entry wants the session to stop. */
function listenToEntry(link: EntryLink, project: Project, log: AdjustableLog): Promise<void> {
  return new Promise((resolve) => {
    link.listen({
      onStop: resolve,
      onReload: () => void project.reload(),
      onBug: (error) => log.error(describeBug(error)),
    });
  });
}
