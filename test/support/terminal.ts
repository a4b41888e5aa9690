// A real pseudo-terminal, by util-linux's `script` or, where that is not there, Python's `pty`.
import { spawn, spawnSync } from 'node:child_process';

const SCRIPT = 'script';

export interface TerminalOutcome {
  readonly status: number | null;
  readonly screen: string;
}

/** Runs a command on a terminal to its end. `keys` sees the screen and may once type something. */
export function runOnTerminal(
  command: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; keys?: (screen: string) => string | undefined },
): Promise<TerminalOutcome> {
  const { cwd, env, keys = () => undefined } = options;
  const [program = '', ...args] = onTerminal(command);
  return new Promise((resolve, reject) => {
    const terminal = spawn(program, args, { cwd, env: { TERM: 'xterm', ...env } });
    let screen = '';
    let hasTyped = false;
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      screen += text;
      const typed = hasTyped ? undefined : keys(screen);
      hasTyped ||= typed !== undefined;
      if (typed !== undefined) terminal.stdin.write(typed);
    });
    terminal.stdin.on('error', () => {}); // the command need not wait for what is typed
    terminal.once('error', reject);
    terminal.once('close', (status) => resolve({ status, screen }));
  });
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
