// Reads a text file written by the user or another program. Only regular files of a reasonable size: a
// pipe would block forever, and a device never ends.
import { closeSync, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { codeOf } from './system-error.ts';

const MAX_BYTES = 1 << 20;

export type ReadText =
  | { readonly text: string }
  | {
      /** A sentence that doesn't name the file. */
      readonly problem: string;
      readonly isMissing: boolean;
    };

const MISSING = { problem: 'It does not exist.', isMissing: true };

export function readTextFile(file: string, maxBytes = MAX_BYTES): ReadText {
  try {
    // stat and read take two system calls; opening first would take four, for each file at each start.
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) return MISSING;
    return findProblem(stat, maxBytes) ?? { text: readFileSync(file, 'utf8') };
  } catch (error) {
    return explainError(error);
  }
}

/** Text and the file it was read from, even if the path now points to another file. */
type ReadFile = Unreadable | OpenedText;

/** A file that was opened, whatever its path points to now. */
export interface OpenedFile {
  readonly stats: Stats;
  /** Changes whenever the file does; undefined if it may be changing now. */
  readonly stamp?: string | undefined;
}

interface OpenedText extends OpenedFile {
  readonly text: string;
}

/** `now` is for tests. */
export function readOpenedFile(file: string, maxBytes = MAX_BYTES, now = Date.now()): ReadFile {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) return MISSING;
    const problem = findProblem(stat, maxBytes); // opening a pipe would block
    if (problem) return problem;
    const descriptor = openSync(file, 'r');
    try {
      const stats = fstatSync(descriptor);
      const unusable = findProblem(stats, maxBytes);
      if (unusable) return unusable;
      const text = readFileSync(descriptor, 'utf8');
      return { text, stats, stamp: stampOf(stats, fstatSync(descriptor), now) };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    return explainError(error);
  }
}

/** File systems note the time of a change only roughly: two changes in a row can have the same. */
const SETTLED_MS = 2_000;

function stampOf(before: Stats, after: Stats, now: number): string | undefined {
  const stamp = fileStamp(before);
  const isSettled = now - before.ctimeMs > SETTLED_MS;
  return isSettled && stamp === fileStamp(after) ? stamp : undefined;
}

/** Changes whenever the file does, unless it changes twice in a moment. */
export function fileStamp({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return [dev, ino, size, mtimeMs, ctimeMs].join('/');
}

interface Unreadable {
  readonly problem: string;
  readonly isMissing: boolean;
}

function findProblem(stat: Stats, maxBytes: number): Unreadable | undefined {
  if (!stat.isFile()) return { problem: 'Not a regular file.', isMissing: false };
  if (stat.size <= maxBytes) return undefined;
  const limit = `${maxBytes / (1 << 20)} MiB`;
  return { problem: `Too large (the limit is ${limit}).`, isMissing: false };
}

function explainError(error: unknown): Unreadable {
  const code = codeOf(error);
  if (code === undefined) throw error;
  if (code === 'ENOENT' || code === 'ENOTDIR') return MISSING;
  return { problem: `It cannot be read (${code}).`, isMissing: false };
}
