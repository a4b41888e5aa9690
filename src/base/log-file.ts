// A log file for one child, for people who want its stderr kept but not shown: one file and one
// older file, neither of which grows without end.
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cleanText } from './text.ts';

const LARGEST_BYTES = 5 << 20;

export function createLogFile(folder: string, name: string): (line: string) => void {
  const file = join(folder, `${fileName(name)}.log`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  let size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return (line) => {
    const text = `${new Date().toISOString()} ${cleanText(line)}\n`;
    if (size + text.length > LARGEST_BYTES) {
      renameSync(file, `${file}.1`);
      size = 0;
    }
    appendFileSync(file, text, { mode: 0o600 });
    size += Buffer.byteLength(text);
  };
}

/** A child's name is anybody's text: only harmless characters of it become part of a path. */
function fileName(name: string): string {
  const safe = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 60);
  if (safe === name) return safe;
  return `${safe}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}
