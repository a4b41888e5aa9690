// One session of a host in the background process: a project of its own, fed through a link. It behaves like a
// Switchboard that serves alone; only the way to the host is longer.
import type { Writable } from 'node:stream';
import { describeBug, SwitchboardError } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import type { AdjustableLog } from '../base/log.ts';
import { settleWithin } from '../base/time.ts';
import type { Config } from '../config/config.ts';
import type { ConfigScript, RunScript } from '../config/files/files.ts';
import { type HostListener, StdioHost } from '../host/stdio.ts';
import type { Loaded, Project } from '../project.ts';
import type { Outgoing } from '../rpc/message.ts';
import type { Session } from '../session/session.ts';
import type { Switchboard } from '../switchboard.ts';
import { packError } from './command-link.ts';
import type { ScriptSurroundings } from './config-script.ts';
import { namesFor, SessionEnvironment } from './environment.ts';
import { FRAME } from './frames.ts';
import {
  type Hello,
  type HttpFlags,
  parseServeArguments,
  type Refusal,
  type ServeArguments,
} from './hello.ts';
import { Ledger } from './ledger.ts';
import type { EntryLink } from './link.ts';
import { isReplayed, Replay, SessionSnapshot } from './snapshot.ts';

/** A session that has to be served by the entry itself. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly refusal: Refusal;

  constructor(reason: string, { isExpected = false, isOver = false } = {}) {
    super(reason);
    this.refusal = { reason, isExpected, isOver };
  }
}

interface SessionProject extends ServeArguments {
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Whether it's for a command, which reports problems itself. */
  readonly isCommand: boolean;
  /** Set if it's for hosts over HTTP. */
  readonly http: HttpFlags | undefined;
  readonly log: AdjustableLog;
  readonly runScript: RunScript;
  /** Called with each configuration before anything else is done with it. */
  readonly check: (config: Config) => void;
  /** Called with each configuration before it is announced and takes effect. */
  readonly prepare: (loaded: Loaded) => Promise<void>;
}

/** Provided by the command line, which knows how a project is served. */
export interface SessionParts {
  readonly openLog: (
    folder: string,
    environment: NodeJS.ProcessEnv,
    stream: Writable,
    isCommand: boolean,
  ) => AdjustableLog;
  readonly openProject: (options: SessionProject) => Promise<Project>;
  /** Listens for the hosts of `switchboard serve --http`. Throws if it can't. */
  readonly openListener: (options: ListenerOptions) => Promise<HttpListener>;
  /** Whether the session can be refused because of its configuration. Its own entry has no choice. */
  readonly canRefuse: boolean;
  /** Runs a configuration script in a process with this environment. */
  readonly runScript: (script: ConfigScript, surroundings: ScriptSurroundings) => Promise<unknown>;
  /** Called with each session that is open. Without it, the session is the only one of its program. */
  readonly onOpen?: (session: ServedSession) => Disposable;
}

interface ListenerOptions {
  readonly project: Project;
  readonly flags: HttpFlags;
  /** The whole environment of `switchboard serve --http`. */
  readonly environment: NodeJS.ProcessEnv;
  readonly log: AdjustableLog;
  /** Written to its stderr. */
  readonly say: (text: string) => void;
  /** Whether another background process has listened before. */
  readonly isAgain: boolean;
}

interface HttpListener extends AsyncDisposable {
  readonly port: number;
}

/** An open session, as the user's other commands see it. */
export interface ServedSession {
  readonly project: Project;
  /** ISO. */
  readonly startedAt: string;
  /** The pid of its entry. */
  readonly entry: number;
  /** Set for a command. Only `serve --http` has hosts. */
  readonly command: string | undefined;
}

const HTTP_COMMAND = 'switchboard serve --http';

/** Servers start after this many milliseconds even if the host never reports that it's ready. */
const READY_AFTER_MS = 1_000;
/** The host's requests wait for servers to be switched on again, but not longer than this. */
const LONGEST_RESTORE_MS = 10_000;
/** The entry keeps what we haven't confirmed to have read. */
const MOST_UNCONFIRMED_BYTES = 64 << 10;
/** More questions than one background process ever asks. */
const IDS_PER_GENERATION = 1_000_000_000;

/** The entry gives up after five seconds of silence. */
const KEEP_ALIVE_MS = 1_000;

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
  const stopped = new Promise<void>((resolve) => {
    link.listen({
      onStop: resolve,
      onReload: () => void project.reload(),
      onBug: (error) => log.error(describeBug(error)),
    });
  });
  project.endOrphansSoon();
  project.watchSoon();
  await Promise.race([stopped, signalled, link.closed]);
}

interface OpenedSession extends AsyncDisposable {
  readonly project: Project;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: AdjustableLog;
}

/** The entry is gone before its session began. */
class GoneEntry extends Error {
  override readonly name = 'GoneEntry';
}

/** The first configuration was read without a variable that it turned out to depend on. */
class ReadAgain extends Error {
  override readonly name = 'ReadAgain';
}

/** Reading the configuration may take long, for example to run a script. */
async function openAndKeepAlive(
  link: EntryLink,
  hello: Hello,
  parts: SessionParts,
): Promise<OpenedSession> {
  const keepAlive = guard(
    () => link.stream.destroy(),
    () => link.send(FRAME.log),
  );
  const timer = setInterval(keepAlive, KEEP_ALIVE_MS);
  try {
    return await openSession(link, hello, parts);
  } finally {
    clearInterval(timer);
  }
}

async function openSession(
  link: EntryLink,
  hello: Hello,
  parts: SessionParts,
): Promise<OpenedSession> {
  const options = parseServeArguments(hello.args);
  if (!options) throw new Refused('it needs the whole program.', { isExpected: true });
  const { folder, http } = hello;
  const environment = new SessionEnvironment(hello.variables);
  const isCommand = hello.command !== undefined;
  const log = parts.openLog(folder, environment.variables, link.errors, isCommand);
  let isOpen = false;
  const add = async (names: Parameters<SessionEnvironment['add']>[1]): Promise<boolean> => {
    if (environment.isComplete || names.length === 0) return false;
    const values = await link.askValues(names);
    if (!values) throw new GoneEntry('The entry is gone.');
    return environment.add(values, names);
  };
  const open = (): Promise<Project> =>
    parts.openProject({
      ...options,
      folder,
      environment: environment.variables,
      isCommand,
      http,
      log,
      runScript: async (script) => {
        await add('all'); // it can read anything
        const { errors } = link;
        return parts.runScript(script, { folder, environment: environment.variables, errors });
      },
      check: (config) => {
        if (config.shared === false && !isOpen && parts.canRefuse) {
          throw new Refused('the configuration has "shared": false.', { isExpected: true });
        }
      },
      prepare: async (loaded) => {
        const { missed } = environment;
        const needed = namesFor(loaded);
        const names =
          needed === 'all' || missed === 'all' ? 'all' : [...new Set([...needed, ...missed])];
        const wasMissed = await add(names);
        if (wasMissed && !isOpen) throw new ReadAgain('The environment has changed.');
      },
    });
  if (http) await add('all'); // its settings are there, and servers get a copy without them
  const project = await open().catch((error: unknown) => {
    if (error instanceof ReadAgain) return open();
    throw error;
  });
  isOpen = true;
  return {
    project,
    environment: environment.variables,
    log,
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}

async function serveUntilHostGoes(
  link: EntryLink,
  hello: Hello,
  { project, log }: OpenedSession,
  signalled: Promise<void>,
): Promise<void> {
  const { switchboard } = project;
  const stopped = new Promise<void>((resolve) => {
    link.listen({
      onStop: resolve,
      onReload: () => void project.reload(),
      onBug: (error) => log.error(describeBug(error)),
    });
  });
  const ended = Promise.race([stopped, signalled, link.closed]);
  const begin = guard(
    (error) => log.error(describeBug(error)),
    () => switchboard.board.begin(),
  );
  const ready = setTimeout(begin, READY_AFTER_MS).unref();
  project.endOrphansSoon();
  project.watchSoon();
  const { host, session, restored, listen, close } = openHost(switchboard, link, hello, log);
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

interface LinkedHost {
  readonly host: StdioHost;
  readonly session: Session;
  /** Resolves when the servers that were switched on are again, or can't be. */
  readonly restored: Promise<void>;
  /** Reads from the host; resolves when it sends nothing more. */
  readonly listen: () => Promise<void>;
  readonly close: () => void;
}

function openHost(
  switchboard: Switchboard,
  link: EntryLink,
  { snapshot, generation }: Hello,
  log: AdjustableLog,
): LinkedHost {
  const ledger = new Ledger();
  const state = new SessionSnapshot();
  const { input } = link;
  let readBytes = 0;
  let confirmedBytes = 0;
  let isReading = false;
  const waiting: (() => void)[] = [];
  const onBug = (error: unknown): void => log.error(describeBug(error));

  const write = (messages: string | Uint8Array, encoding: BufferEncoding = 'utf8'): boolean => {
    // A receipt must not come before the bytes it's about count as read.
    if (isReading) {
      waiting.push(() => write(messages, encoding));
      return true;
    }
    confirmedBytes = readBytes;
    link.sendMessages(ledger.receipt(readBytes), messages, encoding);
    return true;
  };
  const writePieces = (pieces: readonly Buffer[]): void => {
    if (isReading) {
      waiting.push(() => writePieces(pieces));
      return;
    }
    confirmedBytes = readBytes;
    link.sendPieces(ledger.receipt(readBytes), pieces);
  };
  const host = new StdioHost({
    input,
    output: link.stream,
    write: write as Writable['write'],
    writePieces,
    messageLimits: switchboard.hostLimits,
    onFull: () => connected.setFull(true),
    onDrained: () => connected.setFull(false),
    onGivenUp: (bytes) =>
      log.error(`the host left ${bytes >> 20} MB unread: its connection was closed.`),
    onBug,
  });
  const sendSnapshot = (): void => {
    const text = state.takeChanged();
    if (text !== undefined) link.send(FRAME.snapshot, text);
  };
  const replay = new Replay(snapshot);
  const noteActive = (): void => {
    const { active } = session.report;
    replay.noteActive(active);
    state.setActive(active);
    sendSnapshot();
  };
  /** False if the host must not get the message. */
  const note = (message: Outgoing): boolean => {
    if (message.kind === 'answer') {
      if (isReplayed(message.about)) {
        replay.noteAnswered();
        return false;
      }
      if (message.about !== undefined) ledger.close(message.about);
      for (const id of message.batch ?? []) ledger.close(id);
    } else if (
      message.kind === 'notification' &&
      message.method === 'notifications/tools/list_changed'
    ) {
      noteActive(); // a server was switched on or off
    }
    return true;
  };
  const connected = switchboard.openSession({
    send: (json, framing, message) => {
      if (note(message)) host.send(json, framing);
    },
    sendPieces: (json, message) => {
      if (note(message)) host.sendPieces(json);
    },
    lastId: generation * IDS_PER_GENERATION,
  });
  const { session } = connected;
  for (const message of replay.messages) {
    state.note(message);
    session.receive(message);
  }
  if (snapshot !== undefined) noteActive();
  const listener: HostListener = {
    receive: (message) => {
      ledger.read(message);
      state.note(message);
      session.receive(message);
    },
    receiveBroken: (event) => session.receiveBroken(event),
    receiveOversize: (event) => session.receiveOversize(event),
  };
  const beginReading = (): void => {
    isReading = true;
  };
  const endReading = (): void => {
    isReading = false;
    readBytes = host.settledBytes;
    sendSnapshot();
    for (const writeNow of waiting.splice(0)) writeNow();
    if (readBytes - confirmedBytes > MOST_UNCONFIRMED_BYTES) write('');
  };
  const listen = (): Promise<void> => {
    // Around the host's own listener, which reads the messages.
    input.on('data', guard(onBug, beginReading));
    const ended = host.listen(listener);
    input.on('data', guard(onBug, endReading));
    return ended;
  };
  return { host, session, restored: replay.done, listen, close: connected.close };
}
