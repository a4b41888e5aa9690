// Reads a log file that grows, and goes on when it's replaced or emptied.
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { Cancellation } from '../../base/cancellation.ts';
import { olderLog } from '../../base/log-file.ts';
import { codeOf } from '../../base/system-error.ts';
import { pause } from '../../base/time.ts';

const LOOK_EVERY_MS = 200;
const CHUNK_BYTES = 64 << 10;

/** What a file's next bytes are called until the file is replaced. */
interface OpenFile {
  readonly descriptor: number;
  readonly inode: number;
  position: number;
}

/** Calls `onText` with everything that is appended to the file after `position`, until cancelled. */
export async function followFile(
  file: string,
  position: number,
  cancellation: Cancellation,
  onText: (text: string) => void,
): Promise<void> {
  const decoder = new StringDecoder('utf8');
  const take = (bytes: Buffer): void => onText(decoder.write(bytes));
  let open = openAt(file, position);
  try {
    while (!cancellation.reason) {
      open ??= openAt(file, 0);
      if (open) {
        const emptied = readOn(open, take);
        // A full log is copied before it's emptied.
        if (emptied !== undefined) readRest(olderLog(file), emptied, take);
        if (isReplaced(file, open)) {
          readOn(open, take);
          closeSync(open.descriptor);
          open = undefined;
          continue;
        }
      }
      await pause(LOOK_EVERY_MS, cancellation);
    }
  } catch (error) {
    if (error !== cancellation.reason) throw error;
  } finally {
    if (open) closeSync(open.descriptor);
  }
}

/** Undefined if there is no such file yet. */
function openAt(file: string, position: number): OpenFile | undefined {
  try {
    const descriptor = openSync(file, 'r');
    return { descriptor, inode: fstatSync(descriptor).ino, position };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Reads what has been appended. If the file was emptied, returns how much of it had been read before. */
function readOn(open: OpenFile, take: (bytes: Buffer) => void): number | undefined {
  const before = open.position;
  const isEmptied = fstatSync(open.descriptor).size < before;
  if (isEmptied) open.position = 0;
  else open.position = readFrom(open.descriptor, before, take);
  return isEmptied ? before : undefined;
}

function readRest(file: string, position: number, take: (bytes: Buffer) => void): void {
  const rest = openAt(file, position);
  if (!rest) return;
  readFrom(rest.descriptor, position, take);
  closeSync(rest.descriptor);
}

/** Returns the position after the last byte. */
function readFrom(descriptor: number, start: number, take: (bytes: Buffer) => void): number {
  let position = start;
  for (;;) {
    const bytes = Buffer.allocUnsafe(CHUNK_BYTES);
    const length = readSync(descriptor, bytes, 0, CHUNK_BYTES, position);
    if (length === 0) return position;
    position += length;
    take(bytes.subarray(0, length));
  }
}

/** A missing file is about to be created again. */
function isReplaced(file: string, { inode }: OpenFile): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats !== undefined && stats.ino !== inode;
}
