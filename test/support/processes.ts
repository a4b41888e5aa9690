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

/** Waits until `isTrue`; gives whether it became true within the limit. */
export async function eventually(isTrue: () => boolean, limitMs = 10_000): Promise<boolean> {
  const end = performance.now() + limitMs;
  while (!isTrue()) {
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}
