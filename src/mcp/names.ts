// Tool names that every host accepts: hosts add a prefix such as `mcp__switchboard__` and allow 64
// characters in total, of letters, digits, `_` and `-`.
import { shortDigest } from '../base/digest.ts';

const LONGEST = 46;
const KEPT_OF_LONG = 41;

export function toToolName(wanted: string): string {
  const safe = wanted.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  if (safe.length <= LONGEST) return safe;
  return `${safe.slice(0, KEPT_OF_LONG)}_${shortDigest(wanted).slice(0, 4)}`;
}

/**
 * A server's own tool name, unchanged if hosts accept it. MCP allows dots, which hosts replace themselves.
 * A digest keeps names apart that would become equal.
 */
export function acceptableName(own: string): string {
  if (own.length <= LONGEST && /^[A-Za-z0-9_.-]+$/.test(own)) return own;
  const safe = own.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return `${safe.slice(0, LONGEST - 9)}_${shortDigest(own)}`;
}

/** The name itself, or the first of name_2, name_3 … that is not taken. */
export function freeName(name: string, taken: { has(name: string): boolean }): string {
  if (!taken.has(name)) return name;
  for (let count = 2; ; count++) {
    const candidate = numbered(name, count);
    if (!taken.has(candidate)) return candidate;
  }
}

/** The name with a number appended, cut to stay short enough. */
export function numbered(name: string, count: number): string {
  const suffix = `_${count}`;
  return name.slice(0, LONGEST - suffix.length) + suffix;
}
