// Asks for a value without showing what is typed.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Undefined on Ctrl-C and Ctrl-D. Requires a terminal. */
export async function askHidden(prompt: string): Promise<string | undefined> {
  const { stdin: input, stderr } = process;
  // The terminal interface turns off the terminal's own echo, and writes its echo here.
  const output = new Writable({ write: (_text, _encoding, done) => done() });
  const terminal = createInterface({ input, output, terminal: true });
  stderr.write(prompt);
  const closed = new Promise<undefined>((resolve) => {
    terminal.once('close', () => resolve(undefined));
    terminal.once('SIGINT', () => terminal.close());
  });
  try {
    return await Promise.race([terminal.question(''), closed]);
  } finally {
    terminal.close();
    stderr.write('\n');
  }
}
