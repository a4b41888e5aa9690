// What a Switchboard that was killed left behind. Children normally go when their stdin closes, but
// some do not. Each run therefore notes the process groups it starts in a file, and marks them by
// an environment variable; the next run ends groups whose Switchboard is gone. Group numbers are
// used again by the system, so only a process that carries the mark is ours to end.
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isGroupAlive, signalGroup } from './process.ts';

const MARK = 'SWITCHBOARD_RUN';

/** The note of one run. The file exists from the first child on and goes with the run. */
export class RunNote {
  readonly #folder: string;
  readonly #id = `${process.pid}-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  #written = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What marks the environment of a child. */
  get environment(): Record<string, string> {
    return { [MARK]: this.#id };
  }

  add(leader: number): void {
    if (!this.#written) {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      appendFileSync(this.#file, `${startTime(process.pid)}\n`, { mode: 0o600 });
      this.#written = true;
    }
    appendFileSync(this.#file, `${leader}\n`);
  }

  remove(): void {
    if (this.#written) rmSync(this.#file, { force: true });
  }

  get #file(): string {
    return join(this.#folder, this.#id);
  }
}

/** Ends the groups of runs that are gone; answers how many groups that were. */
export async function endOrphans(folder: string, graceMs: number): Promise<number> {
  let ended = 0;
  for (const id of listFolder(folder)) {
    const [ownerStart, ...leaders] = readText(join(folder, id)).trim().split('\n');
    const owner = Number.parseInt(id, 10);
    if (owner > 0 && isAlive(owner) && startTime(owner) === ownerStart) continue;
    const marked = await groupsMarked(`${MARK}=${id}`);
    const orphans = leaders.map(Number).filter((leader) => marked.has(leader));
    for (const group of orphans) signalGroup(group, 'SIGTERM');
    if (orphans.some(isGroupAlive)) await new Promise((resolve) => setTimeout(resolve, graceMs));
    for (const group of orphans.filter(isGroupAlive)) signalGroup(group, 'SIGKILL');
    // What is no note of ours is removed as well: the folder holds nothing else.
    rmSync(join(folder, id), { force: true, recursive: true });
    ended += orphans.length;
  }
  return ended;
}

/** The groups of all processes whose environment holds the mark. */
async function groupsMarked(mark: string): Promise<Set<number>> {
  if (process.platform === 'win32') return new Set(); // its groups end with their console
  if (process.platform !== 'linux') return groupsMarkedByPs(mark);
  const pids = listFolder('/proc').filter((entry) => /^\d+$/.test(entry));
  const marked = pids.filter((pid) => readText(`/proc/${pid}/environ`).split('\0').includes(mark));
  return new Set(marked.map((pid) => Number(statFields(Number(pid))[2])));
}

async function groupsMarkedByPs(mark: string): Promise<Set<number>> {
  const { execFile } = await import('node:child_process');
  const stdout = await new Promise<string>((resolve) => {
    execFile('ps', ['-AEww', '-o', 'pgid=,command='], { maxBuffer: 64 << 20 }, (_error, output) =>
      resolve(output),
    );
  });
  const lines = stdout.split('\n').filter((line) => line.split(' ').includes(mark));
  return new Set(lines.map((line) => Number.parseInt(line, 10)));
}

/** When a process began, in a form that only serves to tell it from another of the same number. */
function startTime(pid: number): string {
  return statFields(pid)[19] ?? '';
}

/** The fields of Linux's /proc/PID/stat behind the program's name: state, parent, group, … */
function statFields(pid: number): string[] {
  const stat = readText(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The names in a folder; none where it cannot be read. */
function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // not there, or gone meanwhile
  }
}

/** The text of a file; empty where it cannot be read, as for a process that has just ended. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
