// Values that were configured as somebody's secret (env, headers, tokens) and must not be
// repeated in anything we write: logs, errors, what children print on stderr.

/** Shorter values are words such as `true` or `8080`; masking them would only garble text. */
const SHORTEST = 8;
const MASK = '***';

export type Mask = (text: string) => string;

export function createMask(values: Iterable<string>): Mask {
  const secrets = collectForms(values);
  if (secrets.length === 0) return (text) => text;
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, MASK), text);
}

/** For a text that was cut: also masks the beginning of a secret that stands at its end. */
export function createCutMask(values: Iterable<string>): Mask {
  const secrets = collectForms(values);
  const mask = createMask(secrets);
  return (text) => {
    const masked = mask(text);
    const cut = secrets.flatMap((secret) => beginningAtEnd(masked, secret));
    const longest = Math.max(0, ...cut);
    return longest === 0 ? masked : `${masked.slice(0, -longest)}${MASK}`;
  };
}

/** A value with the secrets in its texts masked, and a number that is one. */
export function maskValue(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask(value);
  if (typeof value === 'number') return mask(String(value)) === String(value) ? value : MASK;
  if (Array.isArray(value)) return value.map((item) => maskValue(item, mask));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [
    mask(key),
    maskValue(member, mask),
  ]);
  return Object.fromEntries(entries);
}

/** Whether somebody knows a secret. Takes the same time whatever is wrong with what he says. */
export function isSameSecret(given: string, expected: string): boolean {
  // Asked for with the first use: every start reads this file, and few have such a secret.
  const { createHash, timingSafeEqual } = process.getBuiltinModule('node:crypto');
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** Every form in which a value is recognised, the longest first: one may begin another. */
function collectForms(values: Iterable<string>): string[] {
  const forms = new Set<string>();
  for (const value of values) {
    // Output is read by lines, so a value of several (a key file, say) is met line by line.
    for (const part of [value, ...value.split(/\r?\n/)]) {
      forms.add(part);
      forms.add(JSON.stringify(part).slice(1, -1)); // the same inside a JSON text
    }
  }
  return [...forms].filter((form) => form.length >= SHORTEST).sort((a, b) => b.length - a.length);
}

function beginningAtEnd(text: string, secret: string): number[] {
  for (let length = Math.min(secret.length - 1, text.length); length >= SHORTEST / 2; length--) {
    if (text.endsWith(secret.slice(0, length))) return [length];
  }
  return [];
}
