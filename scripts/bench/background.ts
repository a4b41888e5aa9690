// The background process of shared sessions, and what processes cost: CPU time and memory, as Linux counts them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { eventually, processesWith } from '../../test/support/processes.ts';
import { live, type Program } from './client.ts';
import type { Bench } from './row.ts';
import type { Workspace } from './workspace.ts';

/** Whether what a process costs can be read here; says so if it can't. */
export function canCount({ progress }: Bench): boolean {
  if (existsSync('/proc/self/schedstat')) return true;
  progress('shared sessions: skipped, only Linux says what a process costs');
  return false;
}

/** A program whose sessions share a background process, which is stopped at the end, even if we are stopped before. */
export class SharedProgram implements AsyncDisposable {
  readonly program: Program;
  readonly #words: string;

  constructor(workspace: Workspace, program: Program) {
    const { home, ...shared } = workspace.withBackground(program);
    this.program = shared;
    this.#words = `background ${home} `;
    live.add(this);
  }

  /** The background process that an entry has started. */
  get pid(): number {
    const [pid] = this.#pids;
    if (pid === undefined) throw new Error('There is no background process.');
    return pid;
  }

  /** Its sessions have ended before. */
  async stop(): Promise<void> {
    for (const pid of this.#pids) process.kill(pid, 'SIGTERM');
    await eventually(() => this.#pids.length === 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    live.delete(this);
    await this.stop();
  }

  get #pids(): number[] {
    return processesWith(this.#words).map(({ pid }) => pid);
  }
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
