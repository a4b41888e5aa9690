// Removes a folder that was left behind, unless something has been put in it.
import { rmdirSync } from 'node:fs';

export function removeEmptyFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // missing, or not empty
  }
}
