// Reads a text that somebody else has put on the disk. Only what is a file and of a size that people
// write: a pipe would make us wait for ever, and a device has no end.
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
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

export function readTextFile(file: string, mostBytes = MOST_BYTES): ReadText {
  let descriptor: number | undefined;
  try {
    // Not to wait for who writes into it, should it be a pipe.
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return { problem: 'Not read: it is not a file.', isMissing: false };
    if (stat.size > mostBytes) {
      const limit = `${mostBytes / (1 << 20)} MiB`;
      return { problem: `Not read: it is larger than ${limit}.`, isMissing: false };
    }
    return { text: readFileSync(descriptor, 'utf8') };
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    return { problem: isMissing ? 'It is not there.' : `It cannot be read (${code}).`, isMissing };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
