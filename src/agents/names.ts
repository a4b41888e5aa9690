// The names under which agents are shown: in a form that hosts accept, and no two alike.
import { shortDigest } from '../base/digest.ts';
import { numbered, toToolName } from '../mcp/names.ts';

/** ASCII letters and digits, lower-case, all else as `_`, but not at the ends. Never empty. */
export function safeName(name: string): string {
  const safe = name.replaceAll(/[^A-Za-z0-9]/gu, '_').toLowerCase();
  let start = 0;
  let end = safe.length;
  while (safe[start] === '_') start++;
  while (end > start && safe[end - 1] === '_') end--;
  // A name without any such letter is told apart by what it is made of.
  return start === end ? shortDigest(name) : safe.slice(start, end);
}

/**
 * A way to name tools: the first to want a name gets it, also before those that a number would give it to;
 * the others get it with the first number that is free.
 */
export function createToolNamer(wanted: readonly string[]): (wanted: string) => string {
  const taken = new Set(wanted.map(toToolName));
  const given = new Set<string>();
  /** The last number that each name was given with: thousands may want the same. */
  const counts = new Map<string, number>();
  return (one) => {
    const name = toToolName(one);
    let count = counts.get(name) ?? 1;
    let free = name;
    while (given.has(free) || (free !== name && taken.has(free))) free = numbered(name, ++count);
    counts.set(name, count);
    given.add(free);
    return free;
  };
}
