// The command by which a host starts this very program, wherever it was installed.
import { basename, dirname, join, resolve, sep } from 'node:path';

/** `program` is the real path of what was started, `node` that of the Node it runs in. */
export function launchCommand(program: string, node: string): string[] {
  // A folder in npx's cache is gone one day; npx finds or fetches the program again.
  if (program.split(sep).includes('_npx')) return ['npx', '-y', 'switchboard'];
  const folder = dirname(program);
  // From its sources it runs for those who work on it; a host gets what is built of them.
  const built = basename(folder) === 'src' ? resolve(folder, '../dist') : folder;
  return [node, join(built, 'index.js')];
}
