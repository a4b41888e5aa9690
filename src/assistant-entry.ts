// What the small script in an assistant's folder runs, so that updates of this program reach it. The
// build makes a CommonJS module of it, as of everything beside it.

/** Serves the server whose folder was laid out for an assistant, as the program itself does. */
export function runAssistant({ folder }: { readonly folder: string }): void {
  const program = require.resolve('./index.js');
  process.argv = [process.execPath, program, 'assistant', 'serve', '--folder', folder];
  require(program);
}
