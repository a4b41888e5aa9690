// The background process of shared sessions, and what processes cost: CPU time and memory, as Linux counts them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { eventually, processesWith } from '../../test/support/processes.ts';
import { live, type Program } from './client.ts';
import type { Bench } from './row.ts';

export interface SharedProgram extends Program {
  readonly home: string;
}

/** Whether what a process costs can be read here; says so if it can't. */
export function canCount({ progress }: Bench): boolean {
  if (existsSync('/proc/self/schedstat')) return true;
  progress('shared sessions: skipped, only Linux says what a process costs');
  return false;
}

/** The pid of the background process that an entry has started. */
export function backgroundOf({ home }: SharedProgram): number {
  const [background] = processesWith(`background ${home} `);
  if (!background) throw new Error(`There is no background process in ${home}.`);
  return background.pid;
}

/** Its sessions have ended before. */
export async function stopBackground({ home }: SharedProgram): Promise<void> {
  const find = (): number[] => processesWith(`background ${home} `).map(({ pid }) => pid);
  for (const pid of find()) process.kill(pid, 'SIGTERM');
  await eventually(() => find().length === 0);
}

/** Stops the background process at the end, even if we are stopped before. */
export function endingWith(program: SharedProgram): AsyncDisposable {
  const end = {
    async [Symbol.asyncDispose](): Promise<void> {
      live.delete(end);
      await stopBackground(program);
    },
  };
  live.add(end);
  return end;
}

/** The CPU time that all threads of a process have used, in milliseconds. */
export function cpuMs(...pids: number[]): number {
  const threads = pids.flatMap((pid) => {
    const folder = `/proc/${pid}/task`;
    return readdirSync(folder).map((thread) => `${folder}/${thread}/schedstat`);
  });
  const nanoseconds = threads.map((file) => Number(readFileSync(file, 'utf8').split(' ')[0]));
  return sum(nanoseconds) / 1e6;
}

/** Memory that is shared with other processes counts in part. */
export function proportionalMegabytes(pids: readonly number[]): number {
  const kilobytes = pids.map((pid) => {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1]);
  });
  return sum(kilobytes) / 1024;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
