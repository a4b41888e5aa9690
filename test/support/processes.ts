// Which processes run: found by a word on their command line, as `ps` shows it.
import { execFileSync, spawnSync } from 'node:child_process';

export interface Running {
  readonly pid: number;
  readonly command: string;
}

export function processesWith(word: string): Running[] {
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,stat=,args=']).toString().split('\n');
  return lines.flatMap((line) => {
    const [, pid, state = '', command = ''] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    const isOurs = command.includes(word) && Number(pid) !== process.pid;
    return isOurs && !state.startsWith('Z') ? [{ pid: Number(pid), command }] : [];
  });
}

/** The processes that a process has started itself. */
export function childrenOf(parent: number): Running[] {
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args=']).toString().split('\n');
  return lines.flatMap((line) => {
    const [, pid, ppid, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(ppid) === parent ? [{ pid: Number(pid), command }] : [];
  });
}

/** Whether a process runs: one that has ended does not, though nobody may have asked about it yet. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false; // there is no such process
  }
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}

/** How long anything may take that is not meant to wait, on a machine that has much else to do. */
const PATIENCE_MS = 60_000;

/** Waits until `isTrue`; gives whether it became true within the limit. */
export async function eventually(isTrue: () => boolean, limitMs = PATIENCE_MS): Promise<boolean> {
  const end = performance.now() + limitMs;
  while (!isTrue()) {
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

/** Processes with this folder on their command line or in their environment, for example in HOME. */
export function processesOf(folder: string): Running[] {
  const lines = execFileSync('ps', ['axeww', '-o', 'pid=,stat=,args='], { maxBuffer: 64 << 20 });
  return lines
    .toString()
    .split('\n')
    .flatMap((line) => {
      const [, pid, state = '', command = ''] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
      const isOurs = command.includes(folder) && Number(pid) !== process.pid;
      return isOurs && !state.startsWith('Z') ? [{ pid: Number(pid), command }] : [];
    });
}
