// The program's first code on a current Node: joins the user's background process, or has the rest loaded to serve
// alone. It stays small, because every session of every host has one.
import { fstatSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { PROTOCOL } from '../background/frames.ts';
import { type Hello, ownVariables, parseServeArguments } from '../background/hello.ts';
import { type Joined, type JoinFailure, joinOver } from '../background/join.ts';
import { findMeeting, type Meeting } from '../background/meeting.ts';
import { isInSandbox, ownPlace } from '../background/place.ts';
import { writeAtomically } from '../base/atomic-file.ts';
import { isFolder } from '../base/make-folder.ts';
import { describeSystemError, isSystemError } from '../base/system-error.ts';
import { VERSION } from '../base/version.ts';
import { findFolders } from '../config/files/places.ts';
import type { UnsavedStart } from '../load-start.ts';
import { Forwarder, type Lost } from './forward.ts';
import { inProcess } from './in-process.ts';
import { isSharingOff } from './shared-setting.ts';
import { connectOrStart } from './start.ts';

/** Loads the rest of the program. With a link, it serves the session at its other end. */
export type LoadRest = (link?: { readonly stream: Duplex; readonly hello: Hello }) => void;

interface Entry {
  /** The program's first file, and what tells its builds apart. */
  readonly program: string;
  readonly build: string;
  readonly loadRest: LoadRest;
}

/** Not before the host has its first answers. */
const COMPILED_AFTER_MS = 1_000;
/** A background process that keeps ending is started this often. */
const MOST_STARTS = 3;
const STARTS_WITHIN_MS = 60_000;
/** The background process may be stopping just now. */
const MOST_ATTEMPTS = 4;

export function enter(entry: Entry): void {
  const { env, argv } = process;
  const isServe = parseServeArguments(argv.slice(2)) !== undefined;
  const isStdio = !env['TRANSPORT'] || env['TRANSPORT'].toLowerCase() === 'stdio';
  if (!isServe || !isStdio || !isPipe(0) || !isPipe(1)) return entry.loadRest();
  void open(entry).then((forwarder) => {
    if (!forwarder) return;
    setTimeout(keepCompiled, COMPILED_AFTER_MS).unref();
    process.on('SIGHUP', () => forwarder.reload());
    let isEnding = false;
    const end = (): void => {
      if (isEnding) process.exit(0);
      isEnding = true;
      forwarder.stop();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
  });
}

/** Set by the program's first file, unless the compiled code is saved already. */
declare const __UNSAVED_START__: UnsavedStart | undefined;

/** For the next start. */
function keepCompiled(): void {
  if (!__UNSAVED_START__) return;
  try {
    writeAtomically(__UNSAVED_START__.file, __UNSAVED_START__.make(), { mode: 0o644 });
  } catch {
    // Programs are often installed in read-only folders. It costs only some milliseconds.
  }
}

/** Undefined if the rest of the program serves. */
async function open(entry: Entry): Promise<Forwarder | undefined> {
  const { env } = process;
  const found = prepare();
  const joined = 'reason' in found ? found : await join(entry, found, NOTHING_LOST);
  if ('reason' in joined) {
    if (!joined.isExpected) say(`switchboard: serving alone: ${joined.reason}\n`);
    entry.loadRest();
    return undefined;
  }
  const starts: number[] = [];
  const forwarder = new Forwarder({
    environment: env,
    onLog: say,
    findNext: async (lost) => {
      const now = performance.now();
      starts.push(now);
      const recent = starts.filter((at) => now - at < STARTS_WITHIN_MS);
      const next = await findNext(entry, found as Session, lost, recent.length);
      if (!('reason' in next)) return next;
      say(`switchboard: serving alone from now on: ${next.reason}\n`);
      return inProcess(entry.loadRest, helloOf(entry, (found as Session).folder, lost));
    },
    exit: (status) => process.exit(status),
  });
  forwarder.attach(joined);
  return forwarder;
}

const NOTHING_LOST: Lost = { snapshot: undefined, generation: 0 };

interface Session {
  readonly meeting: Meeting;
  /** Where the host started us. */
  readonly folder: string;
}

/** Where to join, or why it's impossible. */
function prepare(): Session | JoinFailure {
  const { env } = process;
  try {
    if (isInSandbox(env)) return failure('this is a sandbox.');
    const folder = process.cwd();
    const { home } = findFolders({ cwd: folder, env });
    const meeting = findMeeting(home, env, VERSION);
    return meeting ? { meeting, folder } : failure(`${home} is too long for a socket's path.`);
  } catch {
    return { reason: '', isExpected: true, isOver: false }; // serving alone explains it
  }
}

async function findNext(
  entry: Entry,
  session: Session,
  lost: Lost,
  starts: number,
): Promise<Joined | JoinFailure> {
  if (starts > MOST_STARTS) return failure('the background process keeps ending.');
  // Nothing creates it again behind the user's back.
  if (!isFolder(session.meeting.home)) return failure(`${session.meeting.home} is gone.`);
  return join(entry, session, lost);
}

async function join(
  entry: Entry,
  { meeting, folder }: Session,
  lost: Lost,
): Promise<Joined | JoinFailure> {
  const { env } = process;
  try {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const { program, build } = entry;
      const connected = await connectOrStart({
        meeting,
        program,
        build,
        environment: env,
        isUnwanted: () => isUnwanted(folder),
      });
      if ('reason' in connected) {
        const { reason, isExpected = false } = connected;
        return { ...failure(`the background process: ${reason}`), isExpected };
      }
      const hello = helloOf(entry, folder, lost);
      const joined = await joinOver(connected.socket, meeting, hello, env, say);
      if (joined === 'closed') continue;
      if ('socket' in joined || joined.isExpected) return joined;
      if (!joined.isOver) return failure(`the background process: ${joined.reason}`);
    }
    return failure('the background process ends as soon as a session joins it.');
  } catch (error) {
    // Such as a home that can't be written, or a full disk.
    if (isSystemError(error)) return failure(`${describeSystemError(error, meeting.folder)}.`);
    return failure(error instanceof Error ? error.message : String(error));
  }
}

/** Also for an invalid configuration: serving alone explains it. */
function isUnwanted(cwd: string): boolean {
  const { configFile } = parseServeArguments(process.argv.slice(2)) ?? {};
  try {
    return isSharingOff({ cwd, env: process.env, configFile });
  } catch {
    return true;
  }
}

function helloOf({ build }: Entry, folder: string, { snapshot, generation }: Lost): Hello {
  const { env, argv, pid } = process;
  return {
    protocol: PROTOCOL,
    version: VERSION,
    build,
    pid,
    folder,
    args: argv.slice(2),
    variables: ownVariables(env),
    place: ownPlace(env),
    generation,
    ...(snapshot !== undefined && { snapshot }),
  };
}

function failure(reason: string): JoinFailure {
  return { reason, isExpected: false, isOver: false };
}

/** Files and terminals can't be forwarded as they come. */
function isPipe(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFIFO() || stats.isSocket();
  } catch {
    return false; // closed
  }
}

/** If the host doesn't read stderr, what is beyond this is dropped. */
const MOST_UNREAD_BYTES = 1 << 20;
let isSpeaking = false;

function say(text: string | Buffer): void {
  const { stderr } = process;
  // A host that closes stderr must not stop us.
  if (!isSpeaking) stderr.on('error', () => {});
  isSpeaking = true;
  if (stderr.writableLength < MOST_UNREAD_BYTES) stderr.write(text);
}
