// Log files: one for each child whose stderr is to be kept but not shown, and one for each day of
// our own log. A file and one older file, neither of which grows without end.
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shortDigest } from './digest.ts';
import { makeFolder } from './make-folder.ts';
import { cleanText, fileNamePart } from './text.ts';
import { followLinks } from './whole-file.ts';

const LARGEST_BYTES = 5 << 20;
const LARGEST_DAY_BYTES = 50 << 20;

type Append = (text: string) => void;

/** Gives a function that writes a line of a child. The first failure is reported and is the last try. */
export function createLogFile(
  folder: string,
  name: string,
  onProblem: (problem: string) => void,
): (line: string) => void {
  const file = join(folder, `${fileName(name)}.log`);
  const append = createFile(file, LARGEST_BYTES);
  return onceReported(
    (line) => append(`${new Date().toISOString()} ${cleanText(line)}\n`),
    (error) => onProblem(`${file} cannot be written: ${String(error)}`),
  );
}

/** The same for a log with a file for each day, by the clock of UTC as the times in it are. */
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
        append = createFile(join(folder, `switchboard.${day}.log`), LARGEST_DAY_BYTES);
      }
      append(`${line}\n`);
    },
    (error) => onProblem(`the log cannot be written to ${folder}: ${String(error)}`),
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

/** Appends to a file; one that is full becomes the older one. */
function createFile(file: string, largestBytes: number): Append {
  let size: number | undefined;
  return (text) => {
    if (size === undefined) {
      makeFolder(dirname(file));
      size = statSync(followLinks(file), { throwIfNoEntry: false })?.size ?? 0;
    }
    const bytes = Buffer.byteLength(text);
    if (size > 0 && size + bytes > largestBytes) {
      renameSync(file, `${file}.1`);
      size = 0;
    }
    appendFileSync(file, text, { mode: 0o600 });
    size += bytes;
  };
}

/** Two names of which the same is left are told apart. */
function fileName(name: string): string {
  const safe = fileNamePart(name);
  return safe === name ? safe : `${safe}-${shortDigest(name)}`;
}
