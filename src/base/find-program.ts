// Finds programs on the PATH.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export function isOnPath(name: string, env: NodeJS.ProcessEnv): boolean {
  return findOnPath(name, env) !== undefined;
}

/** `isUsable` can pass over some of them. */
export function findOnPath(
  name: string,
  env: NodeJS.ProcessEnv,
  isUsable: (file: string) => boolean = () => true,
): string | undefined {
  // On Windows, programs have one of these extensions.
  const endings = ['', ...(env['PATHEXT'] ?? '').split(';')];
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(delimiter).filter(Boolean);
  const files = folders.flatMap((folder) => endings.map((end) => join(folder, name + end)));
  return files.find((file) => isProgram(file) && isUsable(file));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false; // missing or not executable
  }
}
