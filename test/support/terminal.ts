// A real pseudo-terminal, by util-linux's `script` or, where that is not there, Python's `pty`.
import { spawn, spawnSync } from 'node:child_process';

const SCRIPT = 'script';

export interface TerminalOutcome {
  readonly status: number | null;
  readonly screen: string;
}

export interface TerminalOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** How wide the terminal is; it doesn't say unless this is set. */
  readonly columns?: number;
  /** Sees the screen and may once type something. */
  readonly keys?: (screen: string) => string | undefined;
  /** What to type after which words have appeared, one after the other. */
  readonly answers?: readonly (readonly [prompt: string, typed: string])[];
}

/** Runs a command on a terminal to its end. */
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
    terminal.stdin.on('error', () => {}); // the command need not wait for what is typed
    terminal.once('error', reject);
    terminal.once('close', (status) => resolve({ status, screen }));
  });
}

function sized(command: readonly string[], columns: number): string[] {
  return ['sh', '-c', `stty cols ${columns} && exec "$@"`, 'sh', ...command];
}

/** Words that run a command on a terminal and show on stdout what that shows. */
function onTerminal(command: readonly string[]): string[] {
  const { stdout } = spawnSync(SCRIPT, ['--version'], { encoding: 'utf8' });
  if (stdout?.includes('util-linux')) {
    const words = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
    // In the shell's place: Ctrl-C would end the shell too, and hide the command's own status.
    return [SCRIPT, '-qec', `exec ${words.join(' ')}`, '/dev/null'];
  }
  const program =
    'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
  return ['python3', '-c', program, ...command];
}
