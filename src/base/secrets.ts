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

/**
 * For the lines of an output that may have been wrapped: also masks half a secret or more at the
 * beginning and at the end of a line, so that no two lines show it together.
 */
export function createLineMask(values: Iterable<string>): Mask {
  const all = [...new Set(values)];
  const mask = createMask(all);
  const long = all.filter((value) => value.length >= 2 * SHORTEST);
  return long.length === 0 ? mask : (line) => long.reduce(maskEdges, mask(line));
}

function maskEdges(line: string, secret: string): string {
  const half = Math.ceil(secret.length / 2);
  return maskStart(maskEnd(line, secret, half), secret, half);
}

function maskEnd(line: string, secret: string, half: number): string {
  if (!line.includes(secret.slice(0, half))) return line;
  for (let length = secret.length - 1; length >= half; length--) {
    if (line.endsWith(secret.slice(0, length))) return line.slice(0, -length) + MASK;
  }
  return line;
}

function maskStart(line: string, secret: string, half: number): string {
  if (!line.includes(secret.slice(-half))) return line;
  const indent = line.length - line.trimStart().length;
  for (let length = secret.length - 1; length >= half; length--) {
    if (line.startsWith(secret.slice(-length), indent)) {
      return line.slice(0, indent) + MASK + line.slice(indent + length);
    }
  }
  return line;
}

/** Every form in which a value is recognised, the longest first: one may begin another. */
function collectForms(values: Iterable<string>): string[] {
  const forms = new Set<string>();
  for (const value of values) {
    for (const part of partsOf(value)) {
      if (part.length < SHORTEST) continue;
      forms.add(part);
      forms.add(JSON.stringify(part).slice(1, -1)); // the same inside a JSON text
      forms.add(urlEncoded(part));
      forms.add(urlEncoded(part).replaceAll(/%../g, (code) => code.toLowerCase()));
      for (const form of base64Forms(part)) forms.add(form);
    }
  }
  return [...forms].filter((form) => form.length >= SHORTEST).sort((a, b) => b.length - a.length);
}

/** A value, and what of it is met alone: its lines, the token behind its scheme, passwords and keys in it. */
function partsOf(value: string): string[] {
  return [
    value,
    ...value.split(/\r?\n/),
    ...[...value.matchAll(CREDENTIALS)].flatMap((match) => match.slice(1).filter(Boolean)),
  ];
}

/** `Bearer x`, `scheme://user:x@host`, `password=x`, `"api_key": "x"`. */
const CREDENTIALS =
  /^(?:bearer|basic|token|apikey)\s+(\S+)|:\/\/[^/\s:@]*:([^@\s/]+)@|(?:key|token|secret|passw(?:or)?d|pwd)["']?\s*[=:]\s*["']?([^\s"'&;,]+)/gi;

function urlEncoded(text: string): string {
  // Half of a pair, which cannot be encoded, is met as it is.
  return text.isWellFormed() ? encodeURIComponent(text) : text;
}

/** Base64 of any text that contains this one, as far as it depends on this one alone. */
function base64Forms(text: string): string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    // Characters that also encode bits of what precedes or follows are left out.
    const start = [0, 2, 3][before];
    const whole = Math.floor(((before + bytes.length) * 8) / 6);
    const form = encoded.slice(start, whole);
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function beginningAtEnd(text: string, secret: string): number[] {
  for (let length = Math.min(secret.length - 1, text.length); length >= SHORTEST / 2; length--) {
    if (text.endsWith(secret.slice(0, length))) return [length];
  }
  return [];
}
