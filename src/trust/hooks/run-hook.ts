// Runs one hook: a program that gets JSON on stdin. It runs without a shell, in the folder of the file that declares it,
// and has a few seconds.
import { basename } from 'node:path';
import type { Cancellation } from '../../base/cancellation.ts';
import { withVariables } from '../../base/process.ts';
import { ProgramNotStarted, ProgramTimeout, runProgram } from '../../base/run-program.ts';
import { cleanText } from '../../base/text.ts';
import { inheritedEnvironment } from '../../child/environment.ts';
import type { HookConfig } from '../../config/config.ts';

/** How hooks are started. */
export interface HookPrograms {
  /** The project's folder. Hooks are told about it. The user's don't run there. */
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  /** Variables that mark the program as ours, whatever else it inherits. */
  readonly mark?: Readonly<Record<string, string>> | undefined;
  readonly onProcess?: ((pid: number) => void) | undefined;
}

export interface HookRun extends HookPrograms {
  readonly input: string;
  readonly cancellation?: Cancellation | undefined;
}

/** It ran to its end. */
export interface HookExit {
  readonly status: number;
  readonly stdout: string;
  /** Without hidden characters, and not more than a model should have to read. */
  readonly stderr: string;
}

/** It couldn't be run, or didn't do what it should. The message completes "it …". */
export class HookFailure extends Error {
  override readonly name = 'HookFailure';
}

const MAX_STDOUT = 16 << 20;
const MAX_STDERR = 10_000;

/** Rejects with a HookFailure, or with the reason of the cancellation. */
export async function runHook(
  { command, args, cwd, timeoutMs, ofProject }: HookConfig,
  { input, project, env, mark, onProcess, cancellation }: HookRun,
): Promise<HookExit> {
  let stdout = '';
  let stderr = '';
  // A project's program gets what its servers get, and the user's everything.
  const inherited = ofProject
    ? inheritedEnvironment({ ...ofProject, behind: undefined }, env)
    : env;
  try {
    const { status, signal } = await runProgram({
      cmd: command,
      args,
      cwd,
      env: withVariables(inherited, { ...mark, CLAUDE_PROJECT_DIR: project }),
      input,
      limitMs: timeoutMs,
      cancellation,
      onStdout: (text) => {
        stdout += text;
        if (stdout.length > MAX_STDOUT) throw new HookFailure('printed too much');
      },
      onStderr: (text) => {
        if (stderr.length < MAX_STDERR) stderr += text;
      },
      ...(onProcess && { onProcess }),
    });
    if (status === null) throw new HookFailure(`was killed (${signal})`);
    return { status, stdout, stderr: cleanText(stderr.slice(0, MAX_STDERR)).trim() };
  } catch (error) {
    if (error instanceof ProgramTimeout) {
      throw new HookFailure(`took longer than ${timeoutMs} ms`, { cause: error });
    }
    if (error instanceof ProgramNotStarted) {
      throw new HookFailure(`could not be started (${basename(command)})`, { cause: error });
    }
    throw error;
  }
}
