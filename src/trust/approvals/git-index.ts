// Reads a git index, the list of files a repository tracks. git itself is never run: the configuration of a hostile
// repository can make it run programs. A file that can't be understood completely counts as unreadable.
import { isAscii } from 'node:buffer';
import { PLATFORM } from '../../base/process.ts';

/** The files and folders an index lists. Names that some file systems treat as equal count as equal. */
export interface GitIndex {
  has(path: string): boolean;
}

const HEADER = 12;
/** Bytes before the name: times, numbers, the object's hash and the flags. */
const BEFORE_HASH = 40;
const EXTENDED = 0x4000;
const LENGTH = 0x0fff;

/** Undefined if it can't be read, such as a split index. */
export function parseGitIndex(
  bytes: Buffer,
  platform: NodeJS.Platform = PLATFORM,
): GitIndex | undefined {
  if (bytes.length < HEADER || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  for (const hashBytes of [20, 32]) {
    const index = version === 4 ? parseShared(bytes, hashBytes) : parsePlain(bytes, hashBytes);
    if (index) return platform === 'win32' ? withoutShortNames(index) : index;
  }
  return undefined;
}

interface ParsedIndex extends GitIndex {
  /** Calls it with every name, as bytes. */
  forEach(visit: (name: Buffer) => void): void;
}

/** Versions 2 and 3: each entry has its whole name, and is padded to a multiple of eight bytes. */
function parsePlain(bytes: Buffer, hashBytes: number): ParsedIndex | undefined {
  const end = walkPlain(bytes, hashBytes, () => {});
  if (end === undefined || !hasKnownEnd(bytes, end, hashBytes)) return undefined;
  const lower = lowerCase(bytes.subarray(0, end));
  const forEach = (visit: (name: Buffer) => void): void => {
    walkPlain(bytes, hashBytes, (from, to) => visit(bytes.subarray(from, to)));
  };
  // Names beyond ASCII are compared one by one, and only if no other is equal.
  let others: ReadonlySet<string> | undefined;
  // Files of the same folder ask about it again.
  const known = new Map<string, boolean>();
  return {
    forEach,
    has: (path) => {
      const isListed = known.get(path) ?? find(path);
      known.set(path, isListed);
      return isListed;
    },
  };

  function find(path: string): boolean {
    const name = foldName(Buffer.from(path));
    if (isAsciiText(name) && hasAscii(name)) return true;
    others ??= foldedBeyondAscii(forEach);
    return others.has(name);
  }

  function hasAscii(name: string): boolean {
    const wanted = Buffer.from(`${name}\0`, 'latin1');
    for (let hit = lower.indexOf(wanted); hit !== -1; hit = lower.indexOf(wanted, hit + 1)) {
      if (isWholeName(bytes, hit, name.length)) return true;
    }
    return false;
  }
}

/** Returns where the entries end; undefined if they are damaged. */
function walkPlain(
  bytes: Buffer,
  hashBytes: number,
  visit: (from: number, to: number) => void,
): number | undefined {
  const count = bytes.readUInt32BE(8);
  let at = HEADER;
  for (let entry = 0; entry < count; entry++) {
    const start = nameStart(bytes, at, hashBytes);
    if (start === undefined) return undefined;
    const end = nameEnd(bytes, start, flagsAt(bytes, at, hashBytes));
    if (end === undefined) return undefined;
    visit(start, end);
    at += (end - at + 8) & ~7;
  }
  return at;
}

function foldedBeyondAscii(forEach: ParsedIndex['forEach']): Set<string> {
  const folded = new Set<string>();
  forEach((name) => {
    if (!isAscii(name)) folded.add(foldName(name));
  });
  return folded;
}

/**
 * Windows also finds a folder by its short name, such as `LONGFO~1`. Switchboard can't resolve such a name, so an
 * index that has one counts as tracking everything.
 */
function withoutShortNames(index: ParsedIndex): GitIndex {
  let hasShort: boolean | undefined;
  const find = (): boolean => {
    let isFound = false;
    index.forEach((name) => {
      isFound ||= name.includes('~') && /~\d/.test(name.toString('latin1'));
    });
    return isFound;
  };
  return { has: (path) => index.has(path) || (hasShort ??= find()) };
}

/** Whether an entry's name starts here: the flags before it contain its length. */
function isWholeName(bytes: Buffer, at: number, length: number): boolean {
  const written = Math.min(length, LENGTH);
  return [2, 4].some((before) => (bytes.readUInt16BE(at - before) & LENGTH) === written);
}

/** Version 4: each name says how much of the previous one to drop, and what to add. */
function parseShared(bytes: Buffer, hashBytes: number): ParsedIndex | undefined {
  const count = bytes.readUInt32BE(8);
  const names: Buffer[] = [];
  const folded = new Set<string>();
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
    names.push(previous);
    folded.add(foldName(previous));
    at = end + 1;
  }
  if (!hasKnownEnd(bytes, at, hashBytes)) return undefined;
  return {
    has: (path) => folded.has(foldName(Buffer.from(path))),
    forEach: (visit) => names.forEach((name) => visit(name)),
  };
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
function lowerCase(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').toLowerCase(), 'latin1');
}

/**
 * Some disks ignore case, how accents are written, and invisible characters. A repository can track two spellings of
 * a folder, which are one folder there. Folding too much only makes a file foreign.
 */
function foldName(name: Buffer): string {
  if (isAscii(name)) return name.toString('latin1').toLowerCase();
  const bare = name
    .toString('utf8')
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}]/gu, '');
  return bare.toUpperCase().toLowerCase().normalize('NFKD').replaceAll(/\p{M}/gu, '');
}

function isAsciiText(text: string): boolean {
  return isAscii(Buffer.from(text));
}
