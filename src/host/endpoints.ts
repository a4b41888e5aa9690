// Where running Switchboards can be reached by other commands of the same user. Each leaves a note in
// `run/` of its home that says at which address it listens; the note goes with the program, and the
// notes of programs that were killed are removed by whoever finds them.
import { lstatSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isObject } from '../base/object.ts';
import { isOwnFolder, localAddress, makePrivateFolder, userNumber } from '../base/process.ts';
import { isAlive, listFolder, processPlace, readText, startTime } from '../base/process-table.ts';

export interface Endpoint {
  readonly pid: number;
  /** When its process began: a process of the same number that began later is another. */
  readonly start: string;
  /** Where its process number means something: a home may be shared with a container. */
  readonly place: string;
  readonly project: string;
  /** The path of a socket, or the name of a pipe. */
  readonly address: string;
  /** The note itself. */
  readonly file: string;
}

/** Not what `base/orphans.ts` takes for a note of its own in the same folder. */
const NOTE = /^\d+-[0-9a-z]+\.endpoint$/;

/** Chooses an address for this program and writes the note of it. */
export async function claimEndpoint(home: string, project: string): Promise<Endpoint> {
  const { pid } = process;
  const folder = join(home, 'run');
  makePrivateFolder(folder);
  const name = `${pid}-${Math.random().toString(36).slice(2, 10)}`;
  const address = localAddress(folder, name) ?? shorterAddress(name);
  const note = { pid, start: await startTime(pid), place: processPlace(), project, address };
  const file = join(folder, `${name}.endpoint`);
  writeFileSync(file, JSON.stringify(note), { mode: 0o600, flag: 'wx' });
  return { ...note, file };
}

/** Removes the note and the socket. Used while the program ends: it neither waits nor throws. */
export function removeEndpoint({ address, file }: Endpoint): void {
  try {
    if (isSocketPath(address) && lstatSync(address, { throwIfNoEntry: false })?.isSocket()) {
      rmSync(address);
    }
    rmSync(file, { force: true });
  } catch {
    // A folder that cannot be written any more: whoever finds the rest will try again.
  }
}

/** The endpoints of this home, but for those whose program is gone: these are removed. */
export async function findEndpoints(home: string): Promise<Endpoint[]> {
  const folder = join(home, 'run');
  const found: Endpoint[] = [];
  for (const name of listFolder(folder).filter((entry) => NOTE.test(entry))) {
    const endpoint = parseNote(join(folder, name));
    if (!endpoint) continue;
    if (await isOwnerGone(endpoint)) removeEndpoint(endpoint);
    else if (isTrusted(endpoint)) found.push(endpoint);
  }
  return found;
}

/** Whether the note is of this machine and its program has ended. Of others nothing is known. */
async function isOwnerGone({ pid, start, place }: Endpoint): Promise<boolean> {
  if (place !== processPlace()) return false;
  return !isAlive(pid) || (await startTime(pid)) !== start;
}

/** A folder for temporary files is open to all: what somebody else has put there is not asked. */
function isTrusted({ address }: Endpoint): boolean {
  return !isSocketPath(address) || isOwnFolder(dirname(address));
}

/** A pipe is no file, and looking at it would open it. */
function isSocketPath(address: string): boolean {
  return address.endsWith('.sock');
}

/** For a home whose path is too long: a folder of this user's among the temporary files. */
function shorterAddress(name: string): string {
  const folder = join(tmpdir(), `switchboard-${userNumber()}`);
  makePrivateFolder(folder);
  const address = localAddress(folder, name);
  if (address === undefined) throw new Error(`${folder} is too long a path for a socket, too.`);
  return address;
}

function parseNote(file: string): Endpoint | undefined {
  try {
    const note: unknown = JSON.parse(readText(file));
    if (!isObject(note)) return undefined;
    const { pid, start, place, project, address } = note;
    if (typeof pid !== 'number' || typeof start !== 'string') return undefined;
    if (typeof place !== 'string' || typeof project !== 'string') return undefined;
    return typeof address === 'string' ? { pid, start, place, project, address, file } : undefined;
  } catch {
    return undefined; // not yet written, or somebody else's
  }
}
