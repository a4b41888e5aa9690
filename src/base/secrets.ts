// Values that were configured as somebody's secret (env and headers) and must not be repeated in
// anything we write: logs, errors, what children print on stderr.

/** Shorter values are words such as `true` or `8080`; masking them would only garble text. */
const SHORTEST = 8;

export type Mask = (text: string) => string;

export function createMask(values: Iterable<string>): Mask {
  const secrets = new Set<string>();
  for (const value of values) {
    if (value.length < SHORTEST) continue;
    secrets.add(value);
    // The same value inside a JSON text.
    secrets.add(JSON.stringify(value).slice(1, -1));
  }
  if (secrets.size === 0) return (text) => text;
  // The longest first: one secret may be the beginning of another.
  const ordered = [...secrets].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((masked, secret) => masked.replaceAll(secret, '***'), text);
}
