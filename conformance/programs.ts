// Programs that a run starts: those that run to completion, and one that serves until it's stopped. Each has a time
// limit, writes to its own file, and is stopped when we exit.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Keeps all of its output. */
  readonly logFile: string;
}

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const STOP_MS = 60_000;

const live = new Set<ChildProcess>();

/** Ctrl-C also stops the programs we started. */
export function stopAtSignal(): void {
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => {
      for (const program of live) program.kill('SIGTERM');
      process.exitCode = status;
    });
  }
}

/** Runs a program to completion, and stops it after the time limit. */
export async function runToEnd(program: Program, limitMs: number): Promise<Outcome> {
  const { child, printed } = launch(program);
  const limit = setTimeout(() => child.kill('SIGKILL'), limitMs);
  try {
    const [status, signal] = (await once(child, 'close')) as [number | null, string | null];
    if (signal !== null) throw new Error(`${describe(program)} was ended by ${signal}.`);
    return { status, ...printed };
  } finally {
    clearTimeout(limit);
  }
}

/** Starts a program that serves, and waits until it prints its URL. */
export async function serve(program: Program, limitMs: number): Promise<Serving> {
  const { child, printed } = launch(program);
  const stop = (): Promise<void> => stopServing(child, program);
  const end = Date.now() + limitMs;
  for (;;) {
    const address = /\bhttps?:\/\/[^\s/"',]+:\d+/.exec(printed.stdout + printed.stderr);
    if (address) return { url: new URL('/mcp', address[0]).href, [Symbol.asyncDispose]: stop };
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (hasEnded || Date.now() > end) {
      await stop();
      const what = hasEnded ? 'ended' : `printed no address within ${limitMs} ms`;
      throw new Error(`${describe(program)} ${what}.\n${printed.stderr || printed.stdout}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export interface Serving extends AsyncDisposable {
  readonly url: string;
}

function launch(program: Program): {
  readonly child: ChildProcess;
  readonly printed: { stdout: string; stderr: string };
} {
  const { command, args, cwd, env, logFile } = program;
  const child = spawn(command, [...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  live.add(child);
  const printed = { stdout: '', stderr: '' };
  const log = createWriteStream(logFile, { flags: 'a' });
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
      log.write(text);
    });
  }
  child.once('error', (error) => {
    printed.stderr += error.message;
  });
  child.once('close', () => {
    live.delete(child);
    log.end();
  });
  return { child, printed };
}

async function stopServing(child: ChildProcess, program: Program): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  const limit = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await closed;
  clearTimeout(limit);
  if (child.signalCode === 'SIGKILL') {
    throw new Error(`${describe(program)} did not end within ${STOP_MS} ms of SIGTERM.`);
  }
}

function describe({ command, args }: Program): string {
  return [command, ...args.slice(0, 3)].join(' ');
}
