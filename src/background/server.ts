// The background process: accepts the entries of one user, serves a session for each, and ends when nobody needs it.
import { lstatSync, rmSync, utimesSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { writeAtomically } from '../base/atomic-file.ts';
import { describeBug } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import type { Log } from '../base/log.ts';
import { isFolder } from '../base/make-folder.ts';
import { makePrivateSocket } from '../base/process.ts';
import { processPlace, startTime } from '../base/process-table.ts';
import { codeOf } from '../base/system-error.ts';
import { uptimeMs } from '../base/time.ts';
import { findFolders } from '../config/files/places.ts';
import { FRAME, frameOf, PROTOCOL } from './frames.ts';
import { greetEntry } from './greet.ts';
import type { Hello } from './hello.ts';
import { EntryLink } from './link.ts';
import { type Meeting, readSecret } from './meeting.ts';
import { type Place, placeDifference } from './place.ts';
import { serveSession } from './serve-session.ts';
import { Refused, type ServedSession, type SessionParts } from './session-parts.ts';
import { newerVersion } from './versions.ts';

export interface BackgroundOptions {
  readonly meeting: Meeting;
  readonly version: string;
  readonly build: string;
  readonly place: Place;
  readonly parts: SessionParts;
  readonly log: Log;
  /** Whether the files of this program still exist. */
  readonly isInstalled: () => boolean;
  /** Milliseconds between the last session and the end. */
  readonly lingerMs?: number;
  /** Milliseconds between two looks at the home folder. */
  readonly watchMs?: number;
}

const LINGER_MS = 60_000;
const WATCH_MS = 1_000;
/** Processes on other machines and in containers can only tell by the note's age that we're gone. */
const RENEW_NOTE_MS = 30_000;
/** Sessions that stop get this long before the process ends. */
const LAST_SESSIONS_MS = 20_000;

export class Background {
  /** Resolves when the process has nothing left to do. */
  readonly ended: Promise<void>;
  readonly #options: BackgroundOptions;
  readonly #server: Server;
  readonly #secret: Buffer;
  readonly #links = new Set<EntryLink>();
  readonly #sessions = new Set<ServedSession>();
  readonly startedAt = new Date().toISOString();
  /** Connections and sessions that are being served. */
  readonly #work = new Set<Promise<void>>();
  readonly #stopping: Promise<void>;
  #resolveStopping: () => void = () => {};
  #resolveEnded: () => void = () => {};
  #isOver = false;
  #isStopping = false;
  #linger: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  /** Identifies our socket: another process may have replaced it. */
  #socket: number | undefined;
  #renewedAt = 0;

  /** Throws if it can't listen. */
  static async open(options: BackgroundOptions): Promise<Background> {
    const { meeting, version } = options;
    const newer = await newerVersion(meeting, version);
    if (newer !== undefined) throw new Error(`version ${newer} is running.`);
    const secret = readSecret(meeting);
    if (!secret) throw new Error(`${meeting.secretFile} is missing.`);
    const background = new Background(options, secret);
    try {
      await background.#listen();
    } catch (error) {
      background.#server.close(); // a full disk: the note can't be written
      throw error;
    }
    return background;
  }

  private constructor(options: BackgroundOptions, secret: Buffer) {
    this.#options = options;
    this.#secret = secret;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#stopping = new Promise((resolve) => {
      this.#resolveStopping = resolve;
    });
    const accept = (socket: Socket): void => this.#accept(socket);
    this.#server = createServer((socket) => guard(this.#failing(socket), accept)(socket));
  }

  get sessions(): Iterable<ServedSession> {
    return this.#sessions;
  }

  /** Whether new sessions can join it. */
  get isAccepting(): boolean {
    return !this.#isOver;
  }

  /** Accepts no more sessions and ends with the last one. */
  retire(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#watch);
    this.#closeServer();
    this.#endIfIdle();
  }

  /**
   * Stops all sessions and ends. Their entries start another process when they need one, or right away if it's `again`.
   */
  async stop({ again = false } = {}): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#options.log.info('stopping.');
    this.retire();
    if (!again) for (const link of this.#links) link.send(FRAME.leaving);
    this.#resolveStopping();
    const late = setTimeout(this.#resolveEnded, LAST_SESSIONS_MS);
    await Promise.all(this.#work);
    clearTimeout(late);
    this.#resolveEnded();
  }

  async #listen(): Promise<void> {
    const { meeting, log } = this.#options;
    const { address } = meeting;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(address, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    this.#server.on('error', (error) => log.error(`the socket failed: ${error.message}`));
    makePrivateSocket(address);
    this.#socket = inodeOf(address);
    const note = { pid: process.pid, start: await startTime(process.pid), place: processPlace() };
    // Without fsync: the process doesn't survive a power failure either, and a session is waiting.
    writeAtomically(meeting.noteFile, JSON.stringify(note), { mode: 0o600, isDurable: false });
    this.#renewedAt = uptimeMs();
    const bug = (error: unknown): void => log.error(describeBug(error));
    const look = guard(bug, () => this.#look());
    this.#watch = setInterval(look, this.#options.watchMs ?? WATCH_MS);
    this.#endIfIdle();
  }

  /** Our files may be removed or replaced at any time. */
  #look(): void {
    const { home, address, noteFile } = this.#options.meeting;
    if (!isFolder(home)) {
      this.#options.log.info(`${home} is gone.`);
      void this.stop();
    } else if (inodeOf(address) !== this.#socket) {
      this.retire(); // nobody can reach us anymore
    } else if (uptimeMs() - this.#renewedAt > RENEW_NOTE_MS) {
      this.#renewedAt = uptimeMs();
      renew(noteFile);
    }
  }

  /** Serves the entry that started us, if it says hello through this pipe. */
  serveStarter(pipe: Socket): void {
    pipe.on('error', () => {}); // `close` follows
    const failing = this.#failing(pipe);
    const welcome = (hello: Hello | undefined): void => {
      if (hello) this.#keep(pipe, this.#welcome(pipe, hello));
      else pipe.destroy();
    };
    void greetEntry(pipe, undefined).then(welcome).catch(failing);
  }

  #accept(socket: Socket): void {
    socket.on('error', () => {}); // `close` follows
    this.#keep(socket, this.#serve(socket));
  }

  /** This process doesn't end before the connection has been served. */
  #keep(socket: Socket, served: Promise<void>): void {
    clearTimeout(this.#linger);
    const work = served.catch(this.#failing(socket));
    this.#work.add(work);
    void work.then(() => {
      this.#work.delete(work);
      this.#endIfIdle();
    });
  }

  async #serve(socket: Socket): Promise<void> {
    const hello = await greetEntry(socket, this.#secret);
    if (hello) await this.#welcome(socket, hello);
    else socket.destroy();
  }

  async #welcome(socket: Socket, hello: Hello): Promise<void> {
    const { log, parts } = this.#options;
    const refusal = await this.#refusalFor(hello);
    if (refusal) {
      socket.end(frameOf(FRAME.refused, refusal));
      return;
    }
    const link = new EntryLink(socket, (error) => log.error(describeBug(error)));
    this.#links.add(link);
    try {
      const onOpen = (session: ServedSession): Disposable => this.#note(session);
      const isServed = await serveSession(link, hello, { ...parts, onOpen }, this.#stopping);
      // Without it, the entry looks for another process.
      if (isServed && !this.#isStopping) link.send(FRAME.end, Buffer.from([0]));
      socket.end();
    } finally {
      this.#links.delete(link);
    }
  }

  #note(session: ServedSession): Disposable {
    const { log } = this.#options;
    const { project, entry } = session;
    const which = `of ${project.config.project} (entry ${entry})`;
    this.#sessions.add(session);
    log.info(`session ${which} opened.`);
    return {
      [Symbol.dispose]: () => {
        this.#sessions.delete(session);
        log.info(`session ${which} ended.`);
      },
    };
  }

  async #refusalFor(hello: Hello): Promise<Refused['refusal'] | undefined> {
    const { meeting, version, build, place, isInstalled } = this.#options;
    if (hello.protocol !== PROTOCOL || hello.version !== version) {
      return refuse(`it is version ${version}.`);
    }
    if (this.#isOver) return refuse('it is ending.', true);
    const difference = placeDifference(hello.place, place);
    if (difference !== undefined) return refuse(`${difference}.`);
    const { home } = findFolders({ cwd: hello.folder, env: hello.variables });
    if (home !== meeting.home) return refuse(`it serves ${meeting.home}.`);
    // Commands don't outlive the program they use, so its build doesn't matter to them.
    const isOtherBuild = hello.command === undefined && hello.build !== build;
    if (isOtherBuild || !isInstalled()) {
      this.retire();
      return refuse('its program was replaced.', true);
    }
    const newer = await newerVersion(meeting, version);
    if (newer === undefined) return undefined;
    this.retire();
    return refuse(`version ${newer} is running.`);
  }

  /** Logs a bug and closes the connection it happened on. */
  #failing(socket: Socket): (error: unknown) => void {
    return (error) => {
      this.#options.log.error(describeBug(error));
      socket.destroy();
    };
  }

  #endIfIdle(): void {
    clearTimeout(this.#linger);
    if (this.#work.size > 0) return;
    if (this.#isOver) return this.#resolveEnded();
    const { lingerMs = LINGER_MS } = this.#options;
    const retire = guard(
      (error) => this.#options.log.error(describeBug(error)),
      () => this.retire(),
    );
    this.#linger = setTimeout(retire, lingerMs);
    this.#retireIfOld().catch((error: unknown) => this.#options.log.error(describeBug(error)));
  }

  async #retireIfOld(): Promise<void> {
    const { meeting, version } = this.#options;
    if (await newerVersion(meeting, version)) this.retire();
  }

  /** Closing it removes the socket, which may be another process's by now. */
  #closeServer(): void {
    const { address, noteFile } = this.#options.meeting;
    if (inodeOf(address) !== this.#socket) {
      this.#server.unref();
      return;
    }
    try {
      rmSync(noteFile, { force: true });
    } catch {
      // The next one that starts replaces it.
    }
    this.#server.close();
  }
}

function refuse(reason: string, isOver = false): Refused['refusal'] {
  return new Refused(reason, { isOver }).refusal;
}

/** Undefined for a pipe, and if there is nothing. */
function inodeOf(address: string): number | undefined {
  if (address.startsWith('\\\\')) return undefined;
  return lstatSync(address, { throwIfNoEntry: false })?.ino;
}

function renew(file: string): void {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch (error) {
    if (codeOf(error) === undefined) throw error; // a read-only disk isn't a bug
  }
}
