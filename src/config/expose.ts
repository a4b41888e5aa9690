// Which subtools of a child are shown and may be called. Names are compared exactly; `*` in a
// pattern stands for any text. Deny wins over allow.
import type { Expose } from './config.ts';

export function isExposed(subtool: string, { allow, deny, within }: Expose): boolean {
  if (deny?.some((pattern) => matchesPattern(subtool, pattern))) return false;
  if (within && !isExposed(subtool, within)) return false;
  return allow === undefined || allow.some((pattern) => matchesPattern(subtool, pattern));
}

/** Compares piece by piece instead of with a regular expression: time stays linear. */
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
