// Process information: whether a process is alive, when it started, its group, its memory, and marks in its
// environment.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
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

/** Ends a process that can't be asked to. */
export function killProcess(pid: number): void {
  process.kill(pid, 'SIGKILL');
}

/** When a process started, in a form that tells it from others with the same pid. */
export async function startTime(pid: number): Promise<string> {
  if (LINUX) return statFields(pid)[19] ?? 'unknown';
  if (process.platform === 'win32') return 'unknown';
  return (await ps('-o', 'lstart=', '-p', String(pid))).trim() || 'unknown';
}

/** Identifies the set of pids: this machine and, on Linux, this container. */
export function processPlace(): string {
  const { hostname } = process.getBuiltinModule('node:os'); // lazy: most entries don't need it
  if (!LINUX) return hostname();
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname(); // a /proc without namespaces
  }
}

/** The namespaces this process lives in; empty where the system has none. */
export function ownNamespaces(): Record<string, string> {
  const found: Record<string, string> = {};
  if (!LINUX) return found;
  for (const kind of ['user', 'mnt', 'pid', 'net']) {
    try {
      found[kind] = readlinkSync(`/proc/self/ns/${kind}`);
    } catch {
      // a /proc without namespaces
    }
  }
  return found;
}

export interface Confinement {
  /** The program's name. */
  readonly name: string;
  /** The kernel's lines about privileges and system calls. */
  readonly limits: string;
}

/** How far the kernel confines a process. Empty strings if unknown. */
export function confinementOf(pid: number | 'self'): Confinement {
  if (!LINUX) return { name: '', limits: '' };
  const status = readTextOrEmpty(`/proc/${pid}/status`);
  const [, name = ''] = /^Name:\s*(.*)$/m.exec(status) ?? [];
  const lines = status.match(/^(?:NoNewPrivs|Seccomp|Seccomp_filters):.*$/gm) ?? [];
  return { name, limits: lines.join(' ').replaceAll(/\s+/g, ' ') };
}

/** Whether a signal has stopped the process, so that it can't respond. */
export function isSuspended(pid: number): boolean {
  return LINUX && /^[Tt]$/.test(statFields(pid)[0] ?? '');
}

/** The groups of processes with `mark` (NAME=value) and the variable `beside` in their environment. */
export async function groupsMarked(mark: string, beside?: string): Promise<Set<number>> {
  const isMarked = (variables: readonly string[]): boolean =>
    variables.includes(mark) &&
    (beside === undefined || variables.some((one) => one.startsWith(`${beside}=`)));
  if (process.platform === 'win32') return new Set(); // has no groups
  if (!LINUX) {
    const lines = (await ps('-AEww', '-o', 'pgid=,command=')).split('\n');
    const marked = lines.filter((line) => isMarked(line.split(' ')));
    return new Set(marked.map((line) => Number.parseInt(line, 10)));
  }
  const marked = allPids().filter((pid) =>
    isMarked(readTextOrEmpty(`/proc/${pid}/environ`).split('\0')),
  );
  const groups = marked.map((pid) => Number(statFields(pid)[2]));
  // A process that has just exited has no group, and one in another container none we can address.
  return new Set(groups.filter((group) => group > 1));
}

/** Whether a group has only zombies. They stay forever in a container whose init doesn't reap them. */
export function isGroupDead(leader: number): boolean {
  if (!LINUX) return false;
  const members = allPids()
    .map((pid) => statFields(pid))
    .filter(([, , group]) => Number(group) === leader);
  return members.every(([state]) => state === 'Z' || state === 'X');
}

/** The resident memory of each group in bytes; groups that are gone are missing. */
export async function groupMemory(leaders: readonly number[]): Promise<Map<number, number>> {
  const sums = new Map<number, number>();
  if (process.platform === 'win32' || leaders.length === 0) return sums;
  const wanted = new Set(leaders);
  for await (const { group, kibibytes } of LINUX ? readMemory(wanted) : psMemory()) {
    if (wanted.has(group)) sums.set(group, (sums.get(group) ?? 0) + kibibytes * 1024);
  }
  return sums;
}

/** Tells busy groups from waiting ones by comparing CPU time between two checks. */
export class WorkWatch {
  #before = new Map<number, number>();

  /** How many of these groups were busy since the last check; undefined if the system doesn't say. */
  async countWorking(leaders: readonly number[]): Promise<number | undefined> {
    if (!LINUX) return undefined;
    const used = new Map<number, number>();
    const working = new Set<number>();
    for await (const { group, fields } of membersOf(new Set(leaders))) {
      const [state] = fields;
      if (state === 'R' || state === 'D') working.add(group);
      const ticks = Number(fields[11]) + Number(fields[12]); // user and system time
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

/** Processes per turn of the event loop. */
const BATCH = 64;

/** Reads /proc in batches, because calls are being forwarded at the same time. */
async function* membersOf(wanted: ReadonlySet<number>) {
  for (const [index, pid] of allPids().entries()) {
    if (index % BATCH === BATCH - 1) await new Promise((resolve) => setImmediate(resolve));
    const fields = statFields(pid);
    const group = Number(fields[2]);
    if (wanted.has(group)) yield { pid, group, fields };
  }
}

async function* readMemory(wanted: ReadonlySet<number>): AsyncGenerator<MemoryUse> {
  for await (const { pid, group } of membersOf(wanted)) {
    const [, kibibytes = '0'] =
      /^VmRSS:\s*(\d+) kB$/m.exec(readTextOrEmpty(`/proc/${pid}/status`)) ?? [];
    yield { group, kibibytes: Number(kibibytes) };
  }
}

async function* psMemory(): AsyncGenerator<MemoryUse> {
  for (const line of (await ps('-axo', 'pgid=,rss=')).split('\n')) {
    const [group, kibibytes] = line.trim().split(/\s+/).map(Number);
    if (group && kibibytes) yield { group, kibibytes };
  }
}

/** Linux only. */
function allPids(): string[] {
  return listFolder('/proc').filter((entry) => /^\d+$/.test(entry));
}

/** The fields of /proc/PID/stat after the program's name: state, parent, group, … */
function statFields(pid: number | string): string[] {
  const stat = readTextOrEmpty(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

async function ps(...args: string[]): Promise<string> {
  const { execFile } = await import('node:child_process');
  return new Promise((resolve) => {
    // Fails for processes that are gone, which means no output. Times must not depend on the locale.
    const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
    execFile('ps', args, { env, maxBuffer: 64 << 20 }, (_error, output) => resolve(output));
  });
}

/** The names in a folder; none if it can't be read. */
export function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // missing, or just removed
  }
}

/** Empty if the file can't be read, as for a process that has just exited. */
export function readTextOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
