// A log file for one child, for people who want its stderr kept but not shown: one file and one
// older file, neither of which grows without end.
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { shortDigest } from './digest.ts';
import { cleanText } from './text.ts';

const LARGEST_BYTES = 5 << 20;

/** Gives a function that writes a line. The first failure is reported and is the last try. */
export function createLogFile(
  folder: string,
  name: string,
  onProblem: (problem: string) => void,
): (line: string) => void {
  const file = join(folder, `${fileName(name)}.log`);
  let size: number | undefined;
  let hasFailed = false;
  const write = (text: string): void => {
    if (size === undefined) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    }
    const bytes = Buffer.byteLength(text);
    if (size > 0 && size + bytes > LARGEST_BYTES) {
      renameSync(file, `${file}.1`);
      size = 0;
    }
    appendFileSync(file, text, { mode: 0o600 });
    size += bytes;
  };
  return (line) => {
    if (hasFailed) return;
    try {
      write(`${new Date().toISOString()} ${cleanText(line)}\n`);
    } catch (error) {
      hasFailed = true;
      onProblem(`${file} cannot be written: ${String(error)}`);
    }
  };
}

/** A child's name is anybody's text: only harmless characters of it become part of a path. */
function fileName(name: string): string {
  const safe = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 60);
  if (safe === name) return safe;
  return `${safe}-${shortDigest(name)}`;
}
