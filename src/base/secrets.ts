// Masks configured secrets (env, headers, tokens) in everything Switchboard writes: logs, errors, and what
// servers print on stderr. tokens.ts adds well-known credentials that nobody configured.
import { replaceSpans, type Span, StringSearch } from './search.ts';
import { MASK } from './tokens.ts';

/** Shorter values are words such as `true` or `8080`; masking them would only garble text. */
const SHORTEST = 8;

/** How deep JSON inside JSON is searched for secrets. */
const MOST_LEVELS = 4;

export type Mask = (text: string) => string;

/** The forms of the values are worked out on first use: most servers print nothing. */
export function createMask(values: Iterable<string>): Mask {
  return maskForms(() => secretForms(values));
}

/** For truncated text: also masks the start of a secret at its end. */
export function createCutMask(values: Iterable<string>): Mask {
  let forms: readonly string[] | undefined;
  const getForms = (): readonly string[] => (forms ??= secretForms(values));
  const mask = maskForms(getForms);
  return (text) => {
    const masked = mask(text);
    const cut = getForms().flatMap((secret) => beginningAtEnd(masked, secret));
    const longest = Math.max(0, ...cut);
    return longest === 0 ? masked : `${masked.slice(0, -longest)}${MASK}`;
  };
}

function maskForms(getForms: () => readonly string[]): Mask {
  let find: FindForms | undefined;
  return (text) => {
    find ??= createFormFinder(getForms(), []);
    return replaceSpans(text, find(text).spans, MASK);
  };
}

interface FoundForms {
  readonly spans: readonly Span[];
  /** Whether one of the other strings occurs. */
  readonly isOtherFound: boolean;
}

type FindForms = (text: string) => FoundForms;

const NOTHING: FoundForms = { spans: [], isOtherFound: false };

function createFormFinder(forms: readonly string[], others: readonly string[]): FindForms {
  const search = new StringSearch([...forms, ...others]);
  return (text) => {
    let spans: Span[] | undefined;
    let isOtherFound = false;
    search.visit(text, (index, at) => {
      spans ??= [];
      const form = forms[index];
      if (form === undefined) isOtherFound = true;
      else spans.push({ at, end: at + form.length });
    });
    return spans ? { spans, isOtherFound } : NOTHING;
  };
}

/** Masks secrets in a JSON value, including numbers. */
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

/** Compares in constant time. */
export function isSameSecret(given: string, expected: string): boolean {
  // Lazy: every start loads this file, and few need this.
  const { createHash, timingSafeEqual } = process.getBuiltinModule('node:crypto');
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/**
 * For lines of output that may be wrapped: also masks half a secret or more at either end of a line, so
 * that no two lines reveal it together.
 */
export function createLineMask(values: Iterable<string>): Mask {
  const long = [...new Set(values)].filter((value) => value.length >= 2 * SHORTEST);
  let find: FindForms | undefined;
  return (line) => {
    find ??= createFormFinder(
      secretForms(values),
      long.flatMap((secret) => [secret.slice(0, halfOf(secret)), secret.slice(-halfOf(secret))]),
    );
    const { spans, isOtherFound } = find(line);
    const masked = replaceSpans(line, spans, MASK);
    return isOtherFound ? long.reduce(maskEdges, masked) : masked;
  };
}

function halfOf(secret: string): number {
  return Math.ceil(secret.length / 2);
}

function maskEdges(line: string, secret: string): string {
  const half = halfOf(secret);
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

/** Every form in which a value is recognized, longest first, because one form may start with another. */
export function secretForms(values: Iterable<string>): string[] {
  const forms = new Set<string>();
  for (const value of values) {
    for (const part of partsOf(value)) {
      if (part.length < SHORTEST) continue;
      forms.add(part);
      for (const form of jsonForms(part)) forms.add(form);
      forms.add(urlEncoded(part));
      forms.add(urlEncoded(part).replaceAll(/%../g, (code) => code.toLowerCase()));
      for (const form of base64Forms(part)) forms.add(form);
    }
  }
  return [...forms].filter((form) => form.length >= SHORTEST).sort((a, b) => b.length - a.length);
}

/** Inside JSON, which may itself be a string inside JSON. */
function jsonForms(text: string): string[] {
  const forms: string[] = [];
  for (let form = text; forms.length < MOST_LEVELS; forms.push(form)) {
    const escaped = JSON.stringify(form).slice(1, -1);
    if (escaped === form) break;
    form = escaped;
  }
  return forms;
}

/** A value and the parts that may appear alone: lines, the token after its scheme, passwords and keys. */
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
  // A lone surrogate can't be encoded.
  return text.isWellFormed() ? encodeURIComponent(text) : text;
}

/** The part of a longer text's base64 that depends only on this text. */
function base64Forms(text: string): string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    // Leaves out characters that also encode neighboring bits.
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
