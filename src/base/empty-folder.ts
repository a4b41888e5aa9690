// Removes a folder that somebody was made to leave behind, unless it has become somebody's.
import { rmdirSync } from 'node:fs';

export function removeEmptyFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // not there, or something is in it
  }
}
