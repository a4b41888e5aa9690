// Reads a text file written by the user or another program. Only regular files of a reasonable size: a
// pipe would block forever, and a device never ends.
import { readFileSync, statSync } from 'node:fs';
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
    if (!stat.isFile()) return { problem: 'Not a regular file.', isMissing: false };
    if (stat.size > maxBytes) {
      const limit = `${maxBytes / (1 << 20)} MiB`;
      return { problem: `Too large (the limit is ${limit}).`, isMissing: false };
    }
    return { text: readFileSync(file, 'utf8') };
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    if (code === 'ENOTDIR') return MISSING;
    return { problem: `It cannot be read (${code}).`, isMissing: false };
  }
}
