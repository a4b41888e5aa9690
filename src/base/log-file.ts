// Log files: one per server whose stderr goes to a file, one per day for Switchboard's own log, and one for the
// background process. A full file is renamed; only one older file is kept.
import {
  appendFileSync,
  copyFileSync,
  lstatSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { followLinks } from './atomic-file.ts';
import { shortDigest } from './digest.ts';
import { guard } from './guard.ts';
import { makeFolder } from './make-folder.ts';
import { cleanText, toFileName } from './text.ts';
import { maskTokens } from './tokens.ts';

const MAX_BYTES = 5 << 20;
const MAX_DAY_BYTES = 50 << 20;

type Append = (text: string) => void;

/** Where the stderr of servers goes, and the background process's own log. */
export function logPlaces(home: string) {
  const folder = join(home, 'logs');
  return { servers: join(folder, 'servers'), background: join(folder, 'background.log') };
}

/** A server's log. Its name can contain anything. */
export function logFileOf(folder: string, name: string): string {
  return join(folder, `${fileName(name)}.log`);
}

/** Where a full log file is kept. */
export function olderLog(file: string): string {
  return `${file}.1`;
}

/** Returns a function that logs a server's line. Gives up after reporting the first failure. */
export function createLogFile(
  folder: string,
  name: string,
  onProblem: (problem: string) => void,
): (line: string) => void {
  const append = appendTo(folder, name, onProblem);
  return (line) => append(serverLine(line));
}

/** The same for a process that must stay responsive: writes once per turn, however many lines a server prints. */
export function createBatchedLogFile(
  folder: string,
  name: string,
  onProblem: (problem: string) => void,
): (line: string) => void {
  const append = appendTo(folder, name, onProblem);
  const lines: string[] = [];
  const write = guard(
    (error) => onProblem(String(error)),
    () => append(lines.splice(0).join('')),
  );
  return (line) => {
    lines.push(serverLine(line));
    if (lines.length === 1) setImmediate(write);
  };
}

function appendTo(folder: string, name: string, onProblem: (problem: string) => void): Append {
  const file = logFileOf(folder, name);
  return onceReported(createFile(file, MAX_BYTES), (error) =>
    onProblem(`can't write ${file}: ${String(error)}`),
  );
}

function serverLine(line: string): string {
  return `${new Date().toISOString()} ${cleanText(maskTokens(line))}\n`;
}

/**
 * A stream for the log of a process whose stderr is the same file. A full file is copied and emptied, because a crash
 * is still written to it after that.
 */
export function createOwnLogStream(file: string): Writable {
  const append = onceReported(createFile(file, MAX_BYTES, copyAndEmpty), () => {}); // there's nowhere to report it
  return new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => {
      append(text);
      done();
    },
  });
}

/** A link in its place would redirect the copy. */
function copyAndEmpty(file: string, older: string): void {
  if (lstatSync(older, { throwIfNoEntry: false })) rmSync(older);
  copyFileSync(file, older);
  truncateSync(file);
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
function createFile(
  file: string,
  largestBytes: number,
  makeRoom: (file: string, older: string) => void = renameSync,
): Append {
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
        makeRoom(file, olderLog(file));
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
