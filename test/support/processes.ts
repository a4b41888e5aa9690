// Finds running processes by a word on their command line. Linux has it all in /proc, which costs a
// fraction of starting `ps` (not every container has one); other systems need `ps`.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface Running {
  readonly pid: number;
  readonly command: string;
}

interface Entry extends Running {
  readonly parent: number;
}

const HAS_PROC = existsSync('/proc/self/cmdline');

export function processesWith(word: string): Running[] {
  return listProcesses().filter(({ pid, command }) => command.includes(word) && isOther(pid));
}

/** The same, without background processes, which stay a while after their last session. */
export function serversWith(word: string): Running[] {
  return processesWith(word).filter(({ command }) => !command.includes(' background '));
}

/** Processes with this folder on their command line or in their environment, for example in HOME. */
export function processesOf(folder: string): Running[] {
  return listProcesses('environment').filter(
    ({ pid, command }) => command.includes(folder) && isOther(pid),
  );
}

/** The direct children of a process. */
export function childrenOf(parent: number): Running[] {
  return listProcesses().filter((entry) => entry.parent === parent);
}

/** Whether a process runs. A zombie doesn't. */
export function isAlive(pid: number): boolean {
  return listProcesses().some((entry) => entry.pid === pid);
}

/** Whether a process has ended and its parent knows. */
export function isReaped(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

const isOther = (pid: number) => pid !== process.pid;

/** Every process except zombies. */
function listProcesses(extra?: 'environment'): Entry[] {
  return HAS_PROC ? readProc(extra) : readPs(extra);
}

function readProc(extra?: 'environment'): Entry[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (words === '') return []; // a zombie, or the kernel's own
      const environment = extra ? readFileSync(`/proc/${pid}/environ`, 'utf8') : '';
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z') return [];
      const command = `${words}${environment}`.replaceAll('\0', ' ').trim();
      return [{ pid: Number(pid), parent: Number(parent), command }];
    } catch {
      return []; // it has just exited
    }
  });
}

function readPs(extra?: 'environment'): Entry[] {
  const args = [extra ? 'axeww' : 'axww', '-o', 'pid=,ppid=,stat=,args='];
  const lines = execFileSync('ps', args, { maxBuffer: 64 << 20 })
    .toString()
    .split('\n');
  return lines.flatMap((line) => {
    const [, pid, parent, state = '', command = ''] =
      /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    const isRunning = pid !== undefined && !state.startsWith('Z');
    return isRunning ? [{ pid: Number(pid), parent: Number(parent), command }] : [];
  });
}

/** The limit for everything that doesn't wait on purpose. Generous: a busy machine is slow. */
const PATIENCE_MS = 60_000;

/** Waits for a condition; returns whether it came true within the limit. Without a limit, it must come true. */
export async function eventually(isTrue: () => boolean, limitMs?: number): Promise<boolean> {
  const end = performance.now() + (limitMs ?? PATIENCE_MS);
  while (!isTrue()) {
    if (performance.now() > end) {
      if (limitMs !== undefined) return false;
      throw new Error(`This did not come true: ${String(isTrue)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}
