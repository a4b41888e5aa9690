// A real pseudo-terminal from util-linux's `script` or, if that's missing, Python's `pty`.
import { spawn, spawnSync } from 'node:child_process';

const SCRIPT = 'script';

export interface TerminalOutcome {
  readonly status: number | null;
  readonly screen: string;
}

export interface TerminalOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The terminal's width; unknown unless set. */
  readonly columns?: number;
  /** Sees the screen and can type something once. */
  readonly keys?: (screen: string) => string | undefined;
  /** Types each answer after its prompt has appeared, in order. */
  readonly answers?: readonly (readonly [prompt: string, typed: string])[];
}

/** Runs a command on a terminal until it exits. */
export function runOnTerminal(
  command: readonly string[],
  { cwd, env, columns, keys = () => undefined, answers = [] }: TerminalOptions,
): Promise<TerminalOutcome> {
  const [program = '', ...args] = onTerminal(
    columns === undefined ? command : sized(command, columns),
  );
  return new Promise((resolve, reject) => {
    const terminal = spawn(program, args, { cwd, env: { TERM: 'xterm', ...env } });
    let screen = '';
    let seen = 0;
    let answered = 0;
    let hasTyped = false;
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      screen += text;
      const typed = hasTyped ? undefined : keys(screen);
      hasTyped ||= typed !== undefined;
      if (typed !== undefined) terminal.stdin.write(typed);
      for (const [prompt, answer] of answers.slice(answered)) {
        const at = screen.indexOf(prompt, seen);
        if (at < 0) break;
        seen = at + prompt.length;
        answered++;
        terminal.stdin.write(answer);
      }
    });
    terminal.stdin.on('error', () => {}); // the command may exit before it reads the answer
    terminal.once('error', reject);
    terminal.once('close', (status) => resolve({ status, screen }));
  });
}

function sized(command: readonly string[], columns: number): string[] {
  return ['sh', '-c', `stty cols ${columns} && exec "$@"`, 'sh', ...command];
}

/** A command line that runs a command on a terminal and copies its screen to stdout. */
function onTerminal(command: readonly string[]): string[] {
  const { stdout } = spawnSync(SCRIPT, ['--version'], { encoding: 'utf8' });
  if (stdout?.includes('util-linux')) {
    const words = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
    // `exec`: otherwise Ctrl-C also ends the shell and hides the command's own status.
    return [SCRIPT, '-qec', `exec ${words.join(' ')}`, '/dev/null'];
  }
  const program =
    'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
  return ['python3', '-c', program, ...command];
}
