// Files that other programs write line by line, read while they do.
import { existsSync, readFileSync } from 'node:fs';

/** The lines so far; none where there is no file yet. What is behind the last line end is still being written. */
export function wholeLines(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').split('\n').slice(0, -1).filter(Boolean);
}
