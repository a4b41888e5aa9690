// Agent names in a form that hosts accept, each unique.
import { shortDigest } from '../base/digest.ts';
import { numbered, toToolName } from '../mcp/names.ts';

/** Lower-case ASCII letters and digits, `_` for anything else, trimmed. Never empty. */
export function safeName(name: string): string {
  const safe = name.replaceAll(/[^A-Za-z0-9]/gu, '_').toLowerCase();
  let start = 0;
  let end = safe.length;
  while (safe[start] === '_') start++;
  while (end > start && safe[end - 1] === '_') end--;
  // A name without any such character gets a digest.
  return start === end ? shortDigest(name) : safe.slice(start, end);
}

/**
 * Returns a function that names tools. The first agent that wants a name gets it, and the others get the
 * next free number. A number never takes a name that another agent wants.
 */
export function createToolNamer(wanted: readonly string[]): (wanted: string) => string {
  const taken = new Set(wanted.map(toToolName));
  const given = new Set<string>();
  /** The last number used for each name: thousands may want the same one. */
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
