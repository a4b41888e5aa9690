// The small script in an assistant's folder runs this module, so it always uses the installed version. The
// build turns it into a CommonJS module, like everything next to it.

/** Runs `switchboard assistant serve` for an assistant's folder. */
export function runAssistant({ folder }: { readonly folder: string }): void {
  const program = require.resolve('./index.js');
  process.argv = [process.execPath, program, 'assistant', 'serve', '--folder', folder];
  require(program);
}
