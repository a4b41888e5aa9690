// What the assistant of a server is there for, as it stands in the server's own folder: `CLAUDE.md`.
import { join } from 'node:path';
import { readTextFile } from '../../base/read-text.ts';
import { withoutByteOrderMark } from './files.ts';

const ROLE_FILE = 'CLAUDE.md';

/** Undefined where there is none; one that cannot be read is told of, and not waited for. */
export function readFolderRole(
  folder: string,
  warn: (sentence: string) => void,
): string | undefined {
  const file = join(folder, ROLE_FILE);
  const read = readTextFile(file);
  if ('text' in read) return withoutByteOrderMark(read.text).trim() || undefined;
  if (!read.isMissing) warn(`${file}: ${read.problem} The assistant is not told what it says.`);
  return undefined;
}
