// Where entries and the background process of one user meet: a socket with the version in its name, a note about the
// process behind it, and a secret that proves to each side that the other one is this user's.
import {
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { shortDigest } from '../base/digest.ts';
import { isObject } from '../base/object.ts';
import { isOwnFolder, localAddress, systemRuntimeFolder, userNumber } from '../base/process.ts';
import { readTextOrEmpty } from '../base/process-table.ts';
import { codeOf } from '../base/system-error.ts';
import { hmac } from './hmac.ts';

export interface Meeting {
  /** Switchboard's own folder. */
  readonly home: string;
  /** Contains everything below. */
  readonly folder: string;
  /** A socket's path or a pipe's name. */
  readonly address: string;
  readonly secretFile: string;
  readonly noteFile: string;
  readonly lockFile: string;
}

/** Who listens at a meeting. */
export interface BackgroundNote {
  readonly pid: number;
  /** When its process started: a later one can have the same pid. */
  readonly start: string;
  /** The machine and container its pid belongs to: they may share a home. */
  readonly place: string;
}

/** What a background process first tells the entry that started it. Anything else is an error text. */
export const READY = 'ready\n';

/** Undefined if the path would be too long for a socket. */
export function findMeeting(
  home: string,
  env: NodeJS.ProcessEnv,
  version: string,
): Meeting | undefined {
  const folder = meetingFolder(home, env);
  const name = `background-${version}`;
  // Pipes have no folder, so the name has to tell homes apart.
  const address = localAddress(folder, name, `${name}-${shortDigest(home)}`);
  if (address === undefined) return undefined;
  return {
    home,
    folder,
    address,
    secretFile: join(folder, 'background.key'),
    noteFile: join(folder, `${name}.json`),
    lockFile: join(folder, `${name}.lock`),
  };
}

/**
 * The system's folder for sockets is on this machine even if the home isn't. It belongs to the user, so only the
 * user's default home can use it.
 */
function meetingFolder(home: string, env: NodeJS.ProcessEnv): string {
  const own = join(home, 'run');
  // Not every host passes the variable on.
  const runtime = env['XDG_RUNTIME_DIR'] || systemRuntimeFolder();
  if (runtime === undefined || !isOwnFolder(runtime)) return own;
  return home === defaultHome() ? join(runtime, 'switchboard') : own;
}

function defaultHome(): string | undefined {
  try {
    return join(process.getBuiltinModule('node:os').userInfo().homedir, '.switchboard');
  } catch {
    return undefined; // the system doesn't know the user
  }
}

/** Why a socket can't be trusted to be this user's. Undefined if it can, or if there is none. */
export function socketProblem({ folder, address }: Meeting): string | undefined {
  if (isPipeName(address)) return undefined; // the secret tells
  const within = lstatSync(folder, { throwIfNoEntry: false });
  if (!within) return undefined;
  if (!within.isDirectory()) return `${folder} is not a folder.`;
  if (!isPrivate(within)) return `${folder} belongs to another user, or others can write to it.`;
  const socket = lstatSync(address, { throwIfNoEntry: false });
  if (!socket) return undefined;
  if (!socket.isSocket()) return `${address} is not a socket.`;
  return isOwner(socket) ? undefined : `${address} belongs to another user.`;
}

/** Whether it's worth trying to connect. */
export function hasSocket({ address }: Meeting): boolean {
  return isPipeName(address) || lstatSync(address, { throwIfNoEntry: false }) !== undefined;
}

function isPipeName(address: string): boolean {
  return address.startsWith('\\\\');
}

function isOwner({ uid }: Stats): boolean {
  const own = userNumber();
  return own === undefined || uid === own;
}

function isPrivate(stats: Stats): boolean {
  return isOwner(stats) && (userNumber() === undefined || (stats.mode & 0o022) === 0);
}

const SECRET_BYTES = 32;

/** Undefined if there is none yet. Throws if others can read or replace it. */
export function readSecret({ secretFile }: Meeting): Buffer | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(secretFile, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const stats = fstatSync(descriptor);
    const isOpen = userNumber() !== undefined && (stats.mode & 0o077) !== 0;
    if (!isOwner(stats) || isOpen) throw new Error(`${secretFile} can be read by others.`);
    const text = Buffer.alloc(2 * SECRET_BYTES);
    readSync(descriptor, text);
    const secret = Buffer.from(text.toString('latin1'), 'hex');
    if (secret.length !== SECRET_BYTES) throw new Error(`${secretFile} has no valid key.`);
    return secret;
  } finally {
    closeSync(descriptor);
  }
}

/** Creates the secret if there is none. Only for the holder of the lock. */
export function ensureSecret(meeting: Meeting): void {
  if (readSecret(meeting)) return;
  const text = `${randomHex(SECRET_BYTES)}\n`;
  try {
    writeFileSync(meeting.secretFile, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    // A file that was only half written, on a full disk, would be invalid from now on.
    if (codeOf(error) !== 'EEXIST') rmSync(meeting.secretFile, { force: true });
    throw error;
  }
}

/** Of the random value that each side sends. */
export const NONCE_BYTES = 16;

/** As hexadecimal digits. */
export function randomHex(length: number): string {
  const bytes = Buffer.alloc(length);
  try {
    const source = openSync('/dev/urandom', 'r');
    try {
      if (readSync(source, bytes) === length) return bytes.toString('hex');
    } finally {
      closeSync(source);
    }
  } catch {
    // Windows
  }
  // Loading it takes a few milliseconds.
  return process.getBuiltinModule('node:crypto').randomBytes(length).toString('hex');
}

/** The random values of both sides, in the order they were sent. */
export interface Challenge {
  readonly entry: string;
  readonly background: string;
}

/** Different for each side, so that neither can return the other's. */
export function proofOf(
  side: 'entry' | 'background',
  secret: Buffer,
  { entry, background }: Challenge,
): string {
  return hmac(secret, [side, entry, background].join('\n'));
}

export function readNote({ noteFile }: Meeting): BackgroundNote | undefined {
  try {
    const note: unknown = JSON.parse(readTextOrEmpty(noteFile));
    if (!isObject(note)) return undefined;
    const { pid, start, place } = note;
    const isPid = typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0;
    if (!isPid || typeof start !== 'string' || typeof place !== 'string') return undefined;
    return { pid, start, place };
  } catch {
    return undefined; // being written, or not ours
  }
}
