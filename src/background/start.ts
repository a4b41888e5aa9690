// Starts the background process: connect, lock, connect again, clear what a killed one left, start. Of many entries
// that start at the same moment, one starts it and the others wait. That one joins through the pipe it made.
import { closeSync, lstatSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { tryLockFile } from '../base/lock.ts';
import { isFolder, makeFolder } from '../base/make-folder.ts';
import { makePrivateFolder, minimalEnvironment, ownSession } from '../base/process.ts';
import { isAlive, processPlace, startTime } from '../base/process-table.ts';
import { sleep, uptimeMs } from '../base/time.ts';
import { connectAt } from './join.ts';
import {
  ensureSecret,
  hasSocket,
  type Meeting,
  READY,
  readNote,
  socketProblem,
} from './meeting.ts';
import { processWide } from './place.ts';

export interface BackgroundStart {
  readonly meeting: Meeting;
  /** The program's first file. */
  readonly program: string;
  /** Tells its builds apart. */
  readonly build: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Asked before it's started. */
  readonly isUnwanted: () => boolean;
  /** What it gets right away, before it's ready to read it. */
  readonly firstWords: () => Buffer;
}

/** A socket, or a sentence about why there is none. */
export type Connected =
  | {
      readonly socket: Socket;
      /** Whether we started the process, so that it knows us and has our first words. */
      readonly isOurs: boolean;
    }
  | { readonly reason: string; readonly isExpected?: boolean };

/** In all: then the entry serves alone. */
const LONGEST_MS = 12_000;
/** A start that takes longer has failed. Some hosts wait only ten seconds for us. */
const READY_MS = 8_000;
/** No start takes longer, so the lock's owner is gone. */
const LOCK_STALE_MS = 30_000;
const FIRST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 160;
/** A process that has just started or is about to exit doesn't listen. */
const NOT_LISTENING_MS = 3_000;
/** A background process on another machine or in a container renews its note more often. */
const FOREIGN_STALE_MS = 120_000;
const MOST_LOG_BYTES = 5 << 20;

/** Connects to the background process, and starts it first if there is none. */
export async function connectOrStart(options: BackgroundStart): Promise<Connected> {
  const { meeting } = options;
  // The usual case comes first.
  const usual = await connectOnce(meeting);
  if (usual !== 'nobody') return usual;
  if (options.isUnwanted()) return { reason: 'it is turned off.', isExpected: true };
  const end = uptimeMs() + LONGEST_MS;
  let retryMs = FIRST_RETRY_MS;
  while (uptimeMs() < end) {
    // Not before: joining alone writes nothing.
    makePrivateFolder(meeting.folder);
    const release = await tryLockFile(meeting.lockFile, LOCK_STALE_MS);
    if (!release) {
      await sleep(retryMs);
      retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
      const connected = await connectOnce(meeting);
      if (connected !== 'nobody') return connected;
      continue;
    }
    try {
      const again = await connectOnce(meeting);
      if (again !== 'nobody') return again;
      const left = await clearStale(meeting);
      if (left !== undefined) return { reason: left };
      ensureSecret(meeting);
      const started = await startBackground(options);
      if (typeof started !== 'string') return { socket: started, isOurs: true };
      // Another one may have been faster: an entry that held the lock before was killed.
      const last = await connectOnce(meeting);
      return last === 'nobody' ? { reason: started } : last;
    } finally {
      release();
    }
  }
  return { reason: 'it took too long to start.' };
}

async function connectOnce(meeting: Meeting): Promise<Connected | 'nobody'> {
  const problem = socketProblem(meeting);
  if (problem !== undefined) return { reason: problem };
  // Failing to connect takes longer than looking.
  if (!hasSocket(meeting)) return 'nobody';
  const socket = await connectAt(meeting.address);
  return typeof socket === 'string' ? explainCode(socket, meeting) : { socket, isOurs: false };
}

/** Why the system doesn't connect us. */
export function explainCode(
  code: string,
  { address }: Pick<Meeting, 'address'>,
): { readonly reason: string } | 'nobody' {
  switch (code) {
    case 'ENOENT':
    case 'ECONNREFUSED':
      return 'nobody';
    case 'EPERM':
    case 'EACCES':
      return { reason: `a sandbox doesn't allow connecting to ${address} (${code}).` };
    default:
      return { reason: `can't connect to ${address} (${code}).` };
  }
}

/** Removes what a killed process left. Returns why it can't; the lock must be held. */
async function clearStale(meeting: Meeting): Promise<string | undefined> {
  const { address, noteFile } = meeting;
  const note = readNote(meeting);
  if (note && note.place !== processPlace()) {
    const stats = statSync(noteFile, { throwIfNoEntry: false });
    const isFresh = stats && Math.abs(Date.now() - stats.mtimeMs) < FOREIGN_STALE_MS;
    if (isFresh) return `${noteFile} belongs to another machine or container.`;
  } else if (note) {
    const end = uptimeMs() + NOT_LISTENING_MS;
    while (isAlive(note.pid) && (await startTime(note.pid)) === note.start) {
      if (uptimeMs() > end) return `process ${note.pid} doesn't accept connections.`;
      await sleep(LONGEST_RETRY_MS);
    }
  }
  if (lstatSync(address, { throwIfNoEntry: false })?.isSocket()) rmSync(address);
  rmSync(noteFile, { force: true });
  return undefined;
}

/** Resolves with the pipe to it when it's ready, or with an error text. */
async function startBackground({
  meeting,
  program,
  build,
  environment,
  firstWords,
}: BackgroundStart): Promise<Socket | string> {
  const { home } = meeting;
  const { HOME: homeFolder = home } = environment;
  const errors = openErrors(home);
  try {
    // Lazy: most entries find it running.
    const { spawn } = process.getBuiltinModule('node:child_process');
    const child = spawn(process.execPath, [program, 'background', home, build], {
      // Not the host's folder, which may have to be removed one day.
      cwd: isFolder(homeFolder) ? homeFolder : home,
      // Sessions bring their own variables.
      env: { ...minimalEnvironment(environment), ...processWide(environment) },
      // What libraries print belongs in the log, too.
      stdio: ['ignore', errors ?? 'ignore', errors ?? 'ignore', 'pipe'],
      ...ownSession(),
    });
    const failed = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(`${process.execPath}: ${error.message}`));
    });
    const pipe = child.stdio[3] as Socket;
    pipe.on('error', () => {}); // `close` follows
    pipe.write(firstWords());
    const problem = await readReport(pipe, failed);
    child.unref();
    if (problem === undefined) return pipe;
    // One that hangs would be in the way of the next.
    child.kill('SIGKILL');
    pipe.destroy();
    return problem;
  } finally {
    if (errors !== undefined) closeSync(errors);
  }
}

/** Resolves with an error text, or with undefined if it's ready. The rest can be read from the pipe. */
async function readReport(pipe: Socket, failed: Promise<string>): Promise<string | undefined> {
  let said = Buffer.alloc(0);
  let timer: NodeJS.Timeout | undefined;
  const report = new Promise<string>((resolve) => {
    const read = (part: Buffer): void => {
      said = Buffer.concat([said, part]);
      if (!said.toString('latin1').startsWith(READY)) return;
      pipe.pause().off('data', read);
      if (said.length > READY.length) pipe.unshift(said.subarray(READY.length));
      resolve(READY);
    };
    pipe.on('data', read);
    pipe.once('close', () => resolve(said.toString()));
    timer = setTimeout(() => resolve('it took too long to start.'), READY_MS);
  });
  const text = await Promise.race([report, failed]);
  clearTimeout(timer);
  if (text === READY) return undefined;
  return text.trim() || 'it exited while starting. See logs/background.log in its home.';
}

/** Its stderr, for crashes. Undefined if it can't be written. */
function openErrors(home: string): number | undefined {
  const folder = join(home, 'logs');
  const file = join(folder, 'background.log');
  try {
    makeFolder(folder);
    // While it runs, the background process does that itself.
    const { size = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
    if (size > MOST_LOG_BYTES) renameSync(file, `${file}.1`);
    return openSync(file, 'a', 0o600);
  } catch {
    return undefined; // a full disk must not keep it from starting
  }
}
