// Whether a program is there to be started by its name, and which file that is.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export function isOnPath(name: string, env: NodeJS.ProcessEnv): boolean {
  return findOnPath(name, env) !== undefined;
}

/** The file that is started when somebody calls a program by its name. */
export function findOnPath(name: string, env: NodeJS.ProcessEnv): string | undefined {
  // Windows has a list of endings, of which one makes a file a program.
  const endings = ['', ...(env['PATHEXT'] ?? '').split(';')];
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(delimiter).filter(Boolean);
  const files = folders.flatMap((folder) => endings.map((end) => join(folder, name + end)));
  return files.find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false; // not there, or not ours to start
  }
}
