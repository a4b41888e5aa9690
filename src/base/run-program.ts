// Runs a program to completion in its own process group, and leaves nothing of the group behind.
import { Cancellation } from './cancellation.ts';
import { guard } from './guard.ts';
import { type GroupCommand, spawnGroup } from './process.ts';
import { killGroup, stopGroups } from './stop-groups.ts';

export interface ProgramOptions extends GroupCommand {
  /** Written to its stdin, which is then closed. */
  readonly input?: string;
  /** If one of these throws, the program is stopped. */
  readonly onStdout?: (text: string) => void;
  readonly onStderr?: (text: string) => void;
  /** Gets the pid as soon as the program runs. */
  readonly onProcess?: (pid: number) => void;
  readonly cancellation?: Cancellation | undefined;
  /** Milliseconds until it must have exited. */
  readonly limitMs?: number;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
}

export interface ProgramExit {
  readonly status: number | null;
  readonly signal: string | null;
}

export class ProgramNotStarted extends Error {
  override readonly name = 'ProgramNotStarted';
}

export class ProgramTimeout extends Error {
  override readonly name = 'ProgramTimeout';
}

const GRACE_MS = 500;
/** Time for the rest of its output to arrive. A background process it leaves may keep the pipes open. */
const DRAIN_MS = 500;

/**
 * Rejects with ProgramNotStarted, ProgramTimeout, the cancellation's reason, or the error a callback threw.
 */
export async function runProgram(options: ProgramOptions): Promise<ProgramExit> {
  const { cancellation = new Cancellation(), onProcess, graceMs = GRACE_MS } = options;
  cancellation.throwIfCancelled();
  const program = await spawnGroup(options).catch((cause: unknown) => {
    throw new ProgramNotStarted(String(cause), { cause });
  });
  const { pid, stdin, stdout, stderr } = program;
  const timers: NodeJS.Timeout[] = [];
  const exited = new Promise<ProgramExit>((resolve, reject) => {
    const { input, onStdout = () => {}, onStderr = () => {}, limitMs } = options;
    for (const pipe of [stdin, stdout, stderr]) pipe?.on('error', () => {}); // the exit status says more
    stdout?.setEncoding('utf8').on('data', guard(reject, onStdout));
    stderr?.setEncoding('utf8').on('data', guard(reject, onStderr));
    stdin?.end(input);
    program.once('close', (status, signal) => resolve({ status, signal }));
    const drain = (status: number | null, signal: string | null): void => {
      timers.push(setTimeout(() => resolve({ status, signal }), DRAIN_MS));
    };
    program.once('exit', guard(reject, drain));
    if (limitMs === undefined) return;
    timers.push(setTimeout(() => reject(new ProgramTimeout('It took too long.')), limitMs));
  });
  let exit: ProgramExit | undefined;
  try {
    if (pid !== undefined) onProcess?.(pid);
    exit = await cancellation.race(exited);
    return exit;
  } finally {
    for (const timer of timers) clearTimeout(timer);
    for (const pipe of [stdin, stdout, stderr]) pipe?.destroy();
    if (pid !== undefined) await (exit ? killGroup(pid, GRACE_MS) : stopGroups([pid], graceMs));
  }
}
