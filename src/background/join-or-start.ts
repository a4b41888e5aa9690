// A program's way to the user's background process: joins it, and starts it first if there is none.
import { isFolder } from '../base/make-folder.ts';
import { describeSystemError, isSystemError } from '../base/system-error.ts';
import { VERSION } from '../base/version.ts';
import { findFolders } from '../config/files/places.ts';
import { FRAME, frameOf, PROTOCOL } from './frames.ts';
import { type Hello, ownVariables } from './hello.ts';
import { type Joined, type JoinFailure, joinOver } from './join.ts';
import { findMeeting, type Meeting } from './meeting.ts';
import { isInSandbox, ownPlace } from './place.ts';
import { isSharingOff } from './shared-setting.ts';
import { connectOrStart } from './start.ts';

/** This program on disk. */
export interface Installation {
  /** Its first file. */
  readonly program: string;
  /** Tells its builds apart. */
  readonly build: string;
}

export interface Joining extends Installation {
  readonly environment: NodeJS.ProcessEnv;
  readonly pid: number;
  /** Written to stderr. */
  readonly onLog: (text: Buffer) => void;
}

/** Where to join. */
export interface MeetingPlace {
  readonly meeting: Meeting;
  /** Where the host started us. */
  readonly folder: string;
}

/** The parts of a hello that only the joining program knows. */
export type OwnHello = Pick<Hello, 'args' | 'generation' | 'snapshot' | 'http'> & {
  /** `--config`. */
  readonly configFile: string | undefined;
};

/** The background process may be stopping just now. */
const MOST_ATTEMPTS = 4;
/** A background process that keeps ending is started this often. */
const MOST_STARTS = 3;
const STARTS_WITHIN_MS = 60_000;

/** Where to join, or why it's impossible. `currentFolder` may throw. */
export function findMeetingPlace(
  environment: NodeJS.ProcessEnv,
  currentFolder: () => string,
): MeetingPlace | JoinFailure {
  try {
    if (isInSandbox(environment)) return failure('this is a sandbox.');
    const folder = currentFolder();
    const { home } = findFolders({ cwd: folder, env: environment });
    const meeting = findMeeting(home, environment, VERSION);
    return meeting ? { meeting, folder } : failure(`${home} is too long for a socket's path.`);
  } catch {
    return { reason: '', isExpected: true, isOver: false }; // serving alone explains it
  }
}

export async function joinOrStart(
  joining: Joining,
  { meeting, folder }: MeetingPlace,
  own: OwnHello,
): Promise<Joined | JoinFailure> {
  const { program, build, environment, onLog } = joining;
  try {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const connected = await connectOrStart({
        meeting,
        program,
        build,
        environment,
        isUnwanted: () => isUnwanted(folder, environment, own.configFile),
        firstWords: () => frameOf(FRAME.hello, helloOf(joining, folder, own)),
      });
      if ('reason' in connected) {
        const { reason, isExpected = false } = connected;
        return { ...failure(`the background process: ${reason}`), isExpected };
      }
      const { socket, isOurs } = connected;
      const missing = isOurs ? undefined : helloOf(joining, folder, own);
      const joined = await joinOver(socket, meeting, missing, environment, onLog);
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

/** Finds another background process after one has ended, unless they keep ending. */
export class NextBackground {
  readonly #starts: number[] = [];

  async join(joining: Joining, place: MeetingPlace, own: OwnHello): Promise<Joined | JoinFailure> {
    const now = performance.now();
    this.#starts.push(now);
    const recent = this.#starts.filter((at) => now - at < STARTS_WITHIN_MS);
    if (recent.length > MOST_STARTS) return failure('the background process keeps ending.');
    const { home } = place.meeting;
    // Nothing creates it again behind the user's back.
    if (!isFolder(home)) return failure(`${home} is gone.`);
    return joinOrStart(joining, place, own);
  }
}

export function helloOf(
  { build, environment, pid }: Joining,
  folder: string,
  { args, generation, snapshot, http }: OwnHello,
): Hello {
  return {
    protocol: PROTOCOL,
    version: VERSION,
    build,
    pid,
    folder,
    args,
    variables: ownVariables(environment),
    place: ownPlace(environment),
    generation,
    ...(snapshot !== undefined && { snapshot }),
    ...(http !== undefined && { http }),
  };
}

/** Also for an invalid configuration: serving alone explains it. */
function isUnwanted(cwd: string, env: NodeJS.ProcessEnv, configFile: string | undefined): boolean {
  try {
    return isSharingOff({ cwd, env, configFile });
  } catch {
    return true;
  }
}

function failure(reason: string): JoinFailure {
  return { reason, isExpected: false, isOver: false };
}
