// Where this very program is, wherever it was installed: the command by which a host starts it, and what
// assistants load of it.
import { basename, dirname, join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/** `program` is the real path of what was started, `node` that of the Node it runs in. */
export function launchCommand(program: string, node: string): string[] {
  // A folder in npx's cache is gone one day; npx finds or fetches the program again.
  if (program.split(sep).includes('_npx')) return ['npx', '-y', 'switchboard'];
  return [node, join(builtFolder(program), 'index.js')];
}

/** The address of what a server's assistant is run by. */
export function assistantRuntime(program: string): string {
  return pathToFileURL(join(builtFolder(program), 'assistant.js')).href;
}

/** From its sources it runs for those who work on it; others get what is built of them. */
function builtFolder(program: string): string {
  const folder = dirname(program);
  return basename(folder) === 'src' ? resolve(folder, '../dist') : folder;
}
