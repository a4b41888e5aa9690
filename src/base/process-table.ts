// What can be found out about processes that are not our children: whether they live, when they
// began, which group they are in, how much memory they hold, and which of them carry a mark in their
// environment.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from './system-error.ts';

const LINUX = process.platform === 'linux';

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** When a process began, in a form that serves to tell it from another of the same number. */
export async function startTime(pid: number): Promise<string> {
  if (LINUX) return statFields(pid)[19] ?? 'unknown';
  if (process.platform === 'win32') return 'unknown';
  return (await ps('-o', 'lstart=', '-p', String(pid))).trim() || 'unknown';
}

/** Where process numbers are those that we see: this machine and, on Linux, this container. */
export function processPlace(): string {
  if (!LINUX) return hostname();
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname(); // a /proc without namespaces
  }
}

/** The groups of all processes whose environment holds `mark`, as NAME=value, and has a variable `beside`. */
export async function groupsMarked(mark: string, beside?: string): Promise<Set<number>> {
  const isMarked = (variables: readonly string[]): boolean =>
    variables.includes(mark) &&
    (beside === undefined || variables.some((one) => one.startsWith(`${beside}=`)));
  if (process.platform === 'win32') return new Set(); // it has no groups
  if (!LINUX) {
    const lines = (await ps('-AEww', '-o', 'pgid=,command=')).split('\n');
    const marked = lines.filter((line) => isMarked(line.split(' ')));
    return new Set(marked.map((line) => Number.parseInt(line, 10)));
  }
  const pids = listFolder('/proc').filter((entry) => /^\d+$/.test(entry));
  const marked = pids.filter((pid) => isMarked(readText(`/proc/${pid}/environ`).split('\0')));
  const groups = marked.map((pid) => Number(statFields(Number(pid))[2]));
  // One that has just ended has none any more, and one of another container none that we could name.
  return new Set(groups.filter((group) => group > 1));
}

/**
 * Whether a group has only processes that have ended and that nobody has asked about yet. In a
 * container whose first process does not do that, they stay for good.
 */
export function isGroupDead(leader: number): boolean {
  if (!LINUX) return false;
  const pids = listFolder('/proc').filter((entry) => /^\d+$/.test(entry));
  const members = pids
    .map((pid) => statFields(Number(pid)))
    .filter(([, , group]) => Number(group) === leader);
  return members.every(([state]) => state === 'Z' || state === 'X');
}

/** The resident memory of each group in bytes, all its processes together; none if it is gone. */
export async function groupMemory(leaders: readonly number[]): Promise<Map<number, number>> {
  const sums = new Map<number, number>();
  if (process.platform === 'win32' || leaders.length === 0) return sums;
  const wanted = new Set(leaders);
  for await (const { group, kibibytes } of LINUX ? readMemory(wanted) : psMemory()) {
    if (wanted.has(group)) sums.set(group, (sums.get(group) ?? 0) + kibibytes * 1024);
  }
  return sums;
}

/** Tells groups that work from those that wait for something, from one look to the next. */
export class WorkWatch {
  #before = new Map<number, number>();

  /** How many of these groups have worked since the last look; undefined where the system does not say. */
  async countWorking(leaders: readonly number[]): Promise<number | undefined> {
    if (!LINUX) return undefined;
    const used = new Map<number, number>();
    const working = new Set<number>();
    for await (const { group, fields } of membersOf(new Set(leaders))) {
      const [state] = fields;
      if (state === 'R' || state === 'D') working.add(group);
      const ticks = Number(fields[11]) + Number(fields[12]); // as a user's program, and in the system
      used.set(group, (used.get(group) ?? 0) + ticks);
    }
    for (const [group, ticks] of used) if (this.#before.get(group) !== ticks) working.add(group);
    this.#before = used;
    return working.size;
  }
}

interface MemoryUse {
  readonly group: number;
  readonly kibibytes: number;
}

/** So many processes are looked at before others get their turn. */
const AT_ONCE = 64;

/** One pass over /proc, with pauses: it is made while calls are being passed on. */
async function* membersOf(wanted: ReadonlySet<number>) {
  const pids = listFolder('/proc').filter((entry) => /^\d+$/.test(entry));
  for (const [index, pid] of pids.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    const fields = statFields(Number(pid));
    const group = Number(fields[2]);
    if (wanted.has(group)) yield { pid, group, fields };
  }
}

async function* readMemory(wanted: ReadonlySet<number>): AsyncGenerator<MemoryUse> {
  for await (const { pid, group } of membersOf(wanted)) {
    const [, kibibytes = '0'] = /^VmRSS:\s*(\d+) kB$/m.exec(readText(`/proc/${pid}/status`)) ?? [];
    yield { group, kibibytes: Number(kibibytes) };
  }
}

async function* psMemory(): AsyncGenerator<MemoryUse> {
  for (const line of (await ps('-axo', 'pgid=,rss=')).split('\n')) {
    const [group, kibibytes] = line.trim().split(/\s+/).map(Number);
    if (group && kibibytes) yield { group, kibibytes };
  }
}

/** The fields of Linux's /proc/PID/stat behind the program's name: state, parent, group, … */
function statFields(pid: number): string[] {
  const stat = readText(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

async function ps(...args: string[]): Promise<string> {
  const { execFile } = await import('node:child_process');
  return new Promise((resolve) => {
    // Where it fails, as for a process that is gone, there is nothing to be found.
    // Times in its output must read alike for all who compare them.
    const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
    execFile('ps', args, { env, maxBuffer: 64 << 20 }, (_error, output) => resolve(output));
  });
}

/** The names in a folder; none where it cannot be read. */
export function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // not there, or gone meanwhile
  }
}

/** The text of a file; empty where it cannot be read, as for a process that has just ended. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
