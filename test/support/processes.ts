// Which processes run: found by a word on their command line, as `ps` shows it.
import { execFileSync } from 'node:child_process';

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

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // there is no such process
  }
}

/** Waits until `isTrue`; gives whether it became true within the limit. */
export async function eventually(isTrue: () => boolean, limitMs = 10_000): Promise<boolean> {
  const end = performance.now() + limitMs;
  while (!isTrue()) {
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}
