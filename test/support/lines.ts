// Reads files that other programs are writing line by line.
import { existsSync, readFileSync } from 'node:fs';

/** The complete lines so far; none if the file doesn't exist yet. */
export function wholeLines(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').split('\n').slice(0, -1).filter(Boolean);
}
