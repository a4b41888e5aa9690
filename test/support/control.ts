// A separate process with a control endpoint that gives canned answers.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { FIXTURES, ROOT } from './project.ts';

export interface ControlProgram {
  readonly pid: number;
  readonly process: ChildProcess;
  /** Sends the signal, or closes its stdin, and waits until it exits. */
  end(by: NodeJS.Signals | 'EOF'): Promise<void>;
}

/** `answers` by method; "never" hangs. */
export async function startControlProgram(home: string, answers: object): Promise<ControlProgram> {
  const args = ['--import', 'tsx', join(FIXTURES, 'control.mjs'), home, JSON.stringify(answers)];
  const program = spawn(process.execPath, args, { cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void program.kill('SIGKILL'));
  const gone = once(program, 'exit');
  await Promise.race([once(program.stdout, 'data'), gone]);
  const { pid } = program;
  if (pid === undefined || program.exitCode !== null) throw new Error('It did not open.');
  return {
    pid,
    process: program,
    end: async (by) => {
      if (by === 'EOF') program.stdin.end();
      else program.kill(by);
      await gone;
    },
  };
}
