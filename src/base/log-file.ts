// Log files: one per server whose stderr goes to a file, and one per day for Switchboard's own log. A full
// file is renamed; only one older file is kept.
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { followLinks } from './atomic-file.ts';
import { shortDigest } from './digest.ts';
import { makeFolder } from './make-folder.ts';
import { cleanText, toFileName } from './text.ts';
import { maskTokens } from './tokens.ts';

const MAX_BYTES = 5 << 20;
const MAX_DAY_BYTES = 50 << 20;

type Append = (text: string) => void;

/** Returns a function that logs a server's line. Gives up after reporting the first failure. */
export function createLogFile(
  folder: string,
  name: string,
  onProblem: (problem: string) => void,
): (line: string) => void {
  const file = join(folder, `${fileName(name)}.log`);
  const append = createFile(file, MAX_BYTES);
  return onceReported(
    (line) => append(`${new Date().toISOString()} ${cleanText(maskTokens(line))}\n`),
    (error) => onProblem(`can't write ${file}: ${String(error)}`),
  );
}

/** The same for a log with one file per day, in UTC like the times in it. */
export function createDailyFile(
  folder: string,
  onProblem: (problem: string) => void,
): (line: string) => void {
  let today: string | undefined;
  let append: Append = () => {};
  return onceReported(
    (line) => {
      const day = new Date().toISOString().slice(0, 10);
      if (day !== today) {
        today = day;
        append = createFile(join(folder, `switchboard.${day}.log`), MAX_DAY_BYTES);
      }
      append(`${line}\n`);
    },
    (error) => onProblem(`can't write the log to ${folder}: ${String(error)}`),
  );
}

function onceReported(write: Append, onProblem: (error: unknown) => void): Append {
  let hasFailed = false;
  return (text) => {
    if (hasFailed) return;
    try {
      write(text);
    } catch (error) {
      hasFailed = true;
      onProblem(error);
    }
  };
}

/** Appends to a file, and renames it when it's full. */
function createFile(file: string, largestBytes: number): Append {
  let size: number | undefined;
  return (text) => {
    if (size === undefined) {
      makeFolder(dirname(file));
      size = sizeOf(file);
    }
    const bytes = Buffer.byteLength(text);
    if (size + bytes > largestBytes) {
      // Other processes write to the same file, and may have renamed it.
      size = sizeOf(file);
      if (size > 0 && size + bytes > largestBytes) {
        renameSync(file, `${file}.1`);
        size = 0;
      }
    }
    appendFileSync(file, text, { mode: 0o600 });
    size += bytes;
  };
}

function sizeOf(file: string): number {
  return statSync(followLinks(file), { throwIfNoEntry: false })?.size ?? 0;
}

/** The digest keeps names apart that would become the same. */
function fileName(name: string): string {
  const safe = toFileName(name);
  return safe === name ? safe : `${safe}-${shortDigest(name)}`;
}
