// Making a folder together with those above it, one level at a time. Node 20's own `recursive` never returns
// where nothing can be made, such as below /proc, and blocks the program for good.
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './system-error.ts';

/** Throws what the system says. Without a mode, what is made is for this user alone. */
export function makeFolder(folder: string, mode = 0o700): void {
  if (isThere(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Somebody else may have been faster.
    if (codeOf(error) !== 'EEXIST' || !isThere(folder)) throw error;
  }
}

function isThere(folder: string): boolean {
  try {
    return statSync(folder).isDirectory();
  } catch {
    return false; // not there, or not for us to see
  }
}
