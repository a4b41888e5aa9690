// Which tools of a server are exposed. `*` in a pattern matches any characters; deny takes precedence over allow.
// Allowed names are compared exactly. Denied names ignore case and separators, because some servers accept
// `Delete-File` for `delete_file`.
import { cleanText } from '../../base/text.ts';
import type { Expose } from '../config.ts';

/** Comparing longer names would take seconds, and no tool has one. Whoever restricts a server doesn't want them. */
const LONGEST_NAME = 10_000;

export function isTooLong(name: string): boolean {
  return name.length > LONGEST_NAME;
}

export function isExposed(subtool: string, { allow, deny, within }: Expose): boolean {
  if (!allow && !deny && !within) return true;
  if (isTooLong(subtool)) return false;
  if (deny && isDenied(subtool, deny)) return false;
  if (within && !isExposed(subtool, within)) return false;
  return allow === undefined || allow.some((pattern) => matchesPattern(subtool, pattern));
}

/** The rules of several files: every `deny` counts, and every `allow` must allow the tool. */
export function combineExpose(all: readonly Partial<Expose>[]): Expose {
  const deny = all.flatMap((one) => one.deny ?? []);
  const isDenying = all.some((one) => one.deny !== undefined);
  const allows = all.flatMap((one) => (one.allow === undefined ? [] : [one.allow]));
  const [allow, ...others] = [
    ...new Map(allows.map((list) => [JSON.stringify(list), list])).values(),
  ];
  const within = all.flatMap((one) => one.within ?? []);
  const more = [...others.map((list) => ({ allow: list, deny: undefined })), ...within];
  return {
    allow,
    deny: isDenying ? [...new Set(deny)] : undefined,
    ...(more.length > 0 && { within: combineExpose(more) }),
  };
}

function isDenied(subtool: string, deny: readonly string[]): boolean {
  const name = foldName(subtool);
  return foldedPatterns(deny).some((pattern) => matchesPattern(name, pattern));
}

/** Cached, because every call is checked. */
const FOLDED = new WeakMap<readonly string[], readonly string[]>();

function foldedPatterns(deny: readonly string[]): readonly string[] {
  let folded = FOLDED.get(deny);
  if (!folded) {
    folded = deny.map(foldName);
    FOLDED.set(deny, folded);
  }
  return folded;
}

/** Normalizes what a server may treat as the same name: case, separators, invisible characters. */
export function foldName(text: string): string {
  if (/^[a-z0-9_*]*$/.test(text)) return text;
  return cleanText(text.normalize('NFKC')).trim().toLowerCase().replaceAll(/[-\s]/g, '_');
}

/** Runs in linear time, unlike a regular expression. */
export function matchesPattern(name: string, pattern: string): boolean {
  const pieces = pattern.split('*');
  const first = pieces.shift() ?? '';
  const last = pieces.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of pieces) {
    const found = name.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
