// Reads a git index, the list of files a repository tracks. git itself is never run: the configuration of a hostile
// repository can make it run programs. A file that can't be understood completely counts as unreadable.

/** The files and folders an index lists; case is ignored, as on some disks. */
export interface GitIndex {
  has(path: string): boolean;
}

const HEADER = 12;
/** Bytes before the name: times, numbers, the object's hash and the flags. */
const BEFORE_HASH = 40;
const EXTENDED = 0x4000;
const LENGTH = 0x0fff;

/** Undefined if it can't be read, such as a split index. */
export function parseGitIndex(bytes: Buffer): GitIndex | undefined {
  if (bytes.length < HEADER || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  for (const hashBytes of [20, 32]) {
    const index = version === 4 ? parseShared(bytes, hashBytes) : parsePlain(bytes, hashBytes);
    if (index) return index;
  }
  return undefined;
}

/** Versions 2 and 3: each entry has its whole name, and is padded to a multiple of eight bytes. */
function parsePlain(bytes: Buffer, hashBytes: number): GitIndex | undefined {
  const count = bytes.readUInt32BE(8);
  let at = HEADER;
  for (let entry = 0; entry < count; entry++) {
    const start = nameStart(bytes, at, hashBytes);
    if (start === undefined) return undefined;
    const end = nameEnd(bytes, start, flagsAt(bytes, at, hashBytes));
    if (end === undefined) return undefined;
    at += (end - at + 8) & ~7;
  }
  if (!hasKnownEnd(bytes, at, hashBytes)) return undefined;
  const folded = foldCase(bytes.subarray(0, at));
  return {
    has: (path) => {
      const name = foldCase(Buffer.from(path));
      const wanted = Buffer.concat([name, Buffer.of(0)]);
      for (let hit = folded.indexOf(wanted); hit !== -1; hit = folded.indexOf(wanted, hit + 1)) {
        if (isWholeName(bytes, hit, name.length)) return true;
      }
      return false;
    },
  };
}

/** Whether an entry's name starts here: the flags before it contain its length. */
function isWholeName(bytes: Buffer, at: number, length: number): boolean {
  const written = Math.min(length, LENGTH);
  return [2, 4].some((before) => (bytes.readUInt16BE(at - before) & LENGTH) === written);
}

/** Version 4: each name says how much of the previous one to drop, and what to add. */
function parseShared(bytes: Buffer, hashBytes: number): GitIndex | undefined {
  const count = bytes.readUInt32BE(8);
  const names = new Set<string>();
  let at = HEADER;
  let previous = Buffer.alloc(0);
  for (let entry = 0; entry < count; entry++) {
    const start = nameStart(bytes, at, hashBytes);
    const drop = start === undefined ? undefined : readOffset(bytes, start);
    if (!drop || drop.value > previous.length) return undefined;
    const end = bytes.indexOf(0, drop.next);
    if (end === -1) return undefined;
    const kept = previous.subarray(0, previous.length - drop.value);
    previous = Buffer.concat([kept, bytes.subarray(drop.next, end)]);
    if (previous.length === 0) return undefined;
    names.add(foldCase(previous).toString('latin1'));
    at = end + 1;
  }
  if (!hasKnownEnd(bytes, at, hashBytes)) return undefined;
  return { has: (path) => names.has(foldCase(Buffer.from(path)).toString('latin1')) };
}

/** git's variable-length number, as in pack files. */
function readOffset(bytes: Buffer, at: number): { value: number; next: number } | undefined {
  let next = at;
  let byte = bytes[next++];
  if (byte === undefined) return undefined;
  let value = byte & 0x7f;
  while (byte & 0x80) {
    byte = bytes[next++];
    if (byte === undefined || value > 1 << 24) return undefined;
    value = ((value + 1) << 7) | (byte & 0x7f);
  }
  return { value, next };
}

function flagsAt(bytes: Buffer, entry: number, hashBytes: number): number {
  return bytes.readUInt16BE(entry + BEFORE_HASH + hashBytes);
}

/** Undefined beyond the end of the file. */
function nameStart(bytes: Buffer, entry: number, hashBytes: number): number | undefined {
  const flags = entry + BEFORE_HASH + hashBytes;
  if (flags + 4 > bytes.length) return undefined;
  const isExtended = (bytes.readUInt16BE(flags) & EXTENDED) !== 0;
  return flags + (isExtended ? 4 : 2);
}

/** Undefined if the length in the flags is wrong. */
function nameEnd(bytes: Buffer, start: number, flags: number): number | undefined {
  const length = flags & LENGTH;
  const end = length < LENGTH ? start + length : bytes.indexOf(0, start);
  const isEnd = end > start && bytes[end] === 0;
  return isEnd && (length < LENGTH || end - start >= LENGTH) ? end : undefined;
}

/** Extensions in capitals can be ignored. Of the others, only `sdir` keeps everything in this file. */
function hasKnownEnd(bytes: Buffer, from: number, hashBytes: number): boolean {
  const end = bytes.length - hashBytes;
  let at = from;
  while (at < end) {
    if (at + 8 > end) return false;
    const name = bytes.toString('latin1', at, at + 4);
    if (name !== 'sdir' && !/^[A-Z]/.test(name)) return false;
    at += 8 + bytes.readUInt32BE(at + 4);
  }
  return at === end;
}

/** Byte by byte, so lengths and positions stay the same. */
function foldCase(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').toLowerCase(), 'latin1');
}
