// Runs a program to completion and returns its output.
import type { Cancellation } from '../../base/cancellation.ts';
import { ProgramTimeout, runProgram } from '../../base/run-program.ts';
import { formatDuration } from '../../base/text.ts';

export interface OutputOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cancellation: Cancellation | undefined;
  /** Gets the pid, so that the process can be found if we are killed. */
  readonly onProcess: (pid: number) => void;
  /** Milliseconds until it must have exited. */
  readonly limitMs?: number | undefined;
}

/** A list of models has less than a megabyte. */
const MOST_CHARS = 16 << 20;
const LIMIT_MS = 10_000;

/** Rejects if it can't be started, fails, prints too much, takes too long or is cancelled. */
export async function outputOf(
  cmd: string,
  args: readonly string[],
  { limitMs = LIMIT_MS, ...options }: OutputOptions,
): Promise<string> {
  const failed = (why: string): Error => new Error(`${args.join(' ')} ${why}`);
  let printed = '';
  const onStdout = (text: string): void => {
    if (printed.length + text.length > MOST_CHARS) throw failed('printed too much');
    printed += text;
  };
  const exited = runProgram({ cmd, args, ...options, onStdout, limitMs });
  const { status, signal } = await exited.catch((error: unknown) => {
    if (!(error instanceof ProgramTimeout)) throw error;
    throw failed(`did not exit within ${formatDuration(limitMs)}`);
  });
  if (status === 0) return printed;
  throw failed(signal === null ? `exited with status ${status}` : `was killed by ${signal}`);
}
