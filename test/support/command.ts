// Runs the built program as a command and waits until it exits.
import { spawn } from 'node:child_process';
import { PROGRAM, type Project } from './project.ts';

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** Its stdin; empty unless set. */
  readonly input?: string;
}

export function runSwitchboard(
  project: Project,
  args: readonly string[],
  { env = {}, cwd = project.dir, input = '' }: RunOptions = {},
): Promise<Outcome> {
  return runCommand(process.execPath, [PROGRAM, ...args], {
    cwd,
    env: { ...project.env, ...env },
    input,
  });
}

export function runCommand(
  command: string,
  args: readonly string[],
  { cwd, env, input = '' }: { cwd: string; env: NodeJS.ProcessEnv; input?: string },
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], { cwd, env, stdio: 'pipe' });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, stdout, stderr }));
    child.stdin.on('error', () => {}); // it may not read its input
    child.stdin.end(input);
  });
}
