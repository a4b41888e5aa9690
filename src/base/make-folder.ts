// Creates a folder and its parents, one level at a time. Node 20's `recursive` option never returns if
// nothing can be created there, such as below /proc, and hangs the process.
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './system-error.ts';

/** Throws the system's errors. By default, new folders are for this user only. */
export function makeFolder(folder: string, mode = 0o700): void {
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have been faster.
    if (codeOf(error) !== 'EEXIST' || !isFolder(folder)) throw error;
  }
}

export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // missing, or not accessible
  }
}
