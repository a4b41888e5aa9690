// Locates this program: the command a host uses to start it, and the module that assistants load.
import { basename, dirname, join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/** `program` is the script's real path, `node` that of the Node executable. */
export function launchCommand(program: string, node: string): string[] {
  // npx's cache may be deleted at any time; npx finds or downloads the program again.
  if (program.split(sep).includes('_npx')) return ['npx', '-y', 'switchboard'];
  return [node, join(builtFolder(program), 'index.js')];
}

/** The URL of the module that runs an assistant. */
export function assistantRuntime(program: string): string {
  return pathToFileURL(join(builtFolder(program), 'assistant.js')).href;
}

/** When running from source, use the build output. */
function builtFolder(program: string): string {
  const folder = dirname(program);
  return basename(folder) === 'src' ? resolve(folder, '../dist') : folder;
}
