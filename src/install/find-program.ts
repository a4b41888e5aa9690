// Whether a program is there to be started by its name.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export function isOnPath(name: string, env: NodeJS.ProcessEnv): boolean {
  // Windows has a list of endings, of which one makes a file a program.
  const endings = ['', ...(env['PATHEXT'] ?? '').split(';')];
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(delimiter).filter(Boolean);
  return folders.some((folder) => endings.some((end) => isProgram(join(folder, name + end))));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false; // not there, or not ours to start
  }
}
