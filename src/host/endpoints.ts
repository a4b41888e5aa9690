// Where the same user's other commands can reach running Switchboard processes. Each writes a note with its address
// to `run/` in its home, and removes it on exit. Any program that finds a killed program's note removes it.
import { lstatSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isObject } from '../base/object.ts';
import { isOwnFolder, localAddress, makePrivateFolder, userNumber } from '../base/process.ts';
import {
  isAlive,
  listFolder,
  processPlace,
  readTextOrEmpty,
  startTime,
} from '../base/process-table.ts';

export interface ControlEndpoint {
  readonly pid: number;
  /** When its process started. A process with the same pid that started later is a different one. */
  readonly start: string;
  /** Where its pid is valid: a home may be shared with a container. */
  readonly place: string;
  /** Empty for a background process, which serves many. */
  readonly project: string;
  /** The version of a background process; undefined for a Switchboard that serves alone. */
  readonly background?: string | undefined;
  /** A socket's path or a pipe's name. */
  readonly address: string;
  /** The note's path. */
  readonly file: string;
}

/** Must not match the notes of `base/orphans.ts` in the same folder. */
const NOTE = /^\d+-[0-9a-z]+\.endpoint$/;

/** Chooses an address for this program and writes its note. */
export async function claimEndpoint(
  home: string,
  { project, background }: Pick<ControlEndpoint, 'project' | 'background'>,
): Promise<ControlEndpoint> {
  const { pid } = process;
  const folder = join(home, 'run');
  makePrivateFolder(folder);
  const name = `${pid}-${Math.random().toString(36).slice(2, 10)}`;
  const address = localAddress(folder, name) ?? shorterAddress(name);
  const start = await startTime(pid);
  const note = { pid, start, place: processPlace(), project, background, address };
  const file = join(folder, `${name}.endpoint`);
  writeFileSync(file, JSON.stringify(note), { mode: 0o600, flag: 'wx' });
  return { ...note, file };
}

/** Removes the note and the socket. Runs while the program exits, so it neither waits nor throws. */
export function removeEndpoint({ address, file }: ControlEndpoint): void {
  try {
    if (isSocketPath(address) && lstatSync(address, { throwIfNoEntry: false })?.isSocket()) {
      rmSync(address);
    }
    rmSync(file, { force: true });
  } catch {
    // The folder isn't writable anymore. The next program that finds the note tries again.
  }
}

/** The endpoints in this home. Those whose program is gone are removed. */
export async function findEndpoints(home: string): Promise<ControlEndpoint[]> {
  const folder = join(home, 'run');
  const found: ControlEndpoint[] = [];
  for (const name of listFolder(folder).filter((entry) => NOTE.test(entry))) {
    const endpoint = parseNote(join(folder, name));
    if (!endpoint) continue;
    if (await isOwnerGone(endpoint)) removeEndpoint(endpoint);
    else if (isTrusted(endpoint)) found.push(endpoint);
  }
  return found;
}

/** Whether the note's program has exited. Nothing is known about programs on other machines. */
async function isOwnerGone({ pid, start, place }: ControlEndpoint): Promise<boolean> {
  if (place !== processPlace()) return false;
  return !isAlive(pid) || (await startTime(pid)) !== start;
}

/** Anyone can write to a folder for temporary files, so sockets of other users are ignored. */
function isTrusted({ address }: ControlEndpoint): boolean {
  return !isSocketPath(address) || isOwnFolder(dirname(address));
}

/** A pipe isn't a file, and looking at it would open it. */
function isSocketPath(address: string): boolean {
  return address.endsWith('.sock');
}

/** For a home whose path is too long: this user's folder among the temporary files. */
function shorterAddress(name: string): string {
  const folder = join(tmpdir(), `switchboard-${userNumber()}`);
  makePrivateFolder(folder);
  const address = localAddress(folder, name);
  if (address === undefined) throw new Error(`${folder} is also too long for a socket.`);
  return address;
}

function parseNote(file: string): ControlEndpoint | undefined {
  try {
    const note: unknown = JSON.parse(readTextOrEmpty(file));
    if (!isObject(note)) return undefined;
    const { pid, start, place, project, address } = note;
    if (typeof pid !== 'number' || typeof start !== 'string') return undefined;
    if (typeof place !== 'string' || typeof project !== 'string') return undefined;
    if (typeof address !== 'string') return undefined;
    const background = typeof note['background'] === 'string' ? note['background'] : undefined;
    return { pid, start, place, project, background, address, file };
  } catch {
    return undefined; // not written yet, or not ours
  }
}
