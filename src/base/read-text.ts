// Reads a text that somebody else has put on the disk. Only what is a file and of a size that people
// write: a pipe would make us wait for ever, and a device has no end.
import { readFileSync, statSync } from 'node:fs';
import { codeOf } from './system-error.ts';

/** What a file that people write may have. */
const MOST_BYTES = 1 << 20;

export type ReadText =
  | { readonly text: string }
  | {
      /** A sentence without the file. */
      readonly problem: string;
      readonly isMissing: boolean;
    };

const MISSING = { problem: 'It is not there.', isMissing: true };

export function readTextFile(file: string, mostBytes = MOST_BYTES): ReadText {
  try {
    // Looked at before it is opened: every start does this for every file, and two calls are fewer than four.
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) return MISSING;
    if (!stat.isFile()) return { problem: 'Not read: it is not a file.', isMissing: false };
    if (stat.size > mostBytes) {
      const limit = `${mostBytes / (1 << 20)} MiB`;
      return { problem: `Not read: it is larger than ${limit}.`, isMissing: false };
    }
    return { text: readFileSync(file, 'utf8') };
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    if (code === 'ENOTDIR') return MISSING;
    return { problem: `It cannot be read (${code}).`, isMissing: false };
  }
}
