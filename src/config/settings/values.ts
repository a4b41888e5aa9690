// How the value of a setting is parsed from an environment variable, from config.toml and from a main file.
import { LONGEST_MS } from '../defaults.ts';

export interface Kind<T> {
  /** Completes the sentence "It must be …". */
  readonly allowed: string;
  /** Its type in JSON; a list of words is an enum. */
  readonly json: 'boolean' | 'count' | 'milliseconds' | 'string' | 'strings' | readonly string[];
  /** Otherwise an empty string counts as unset. */
  readonly canBeEmpty?: true;
  /** Parses an environment variable; undefined if invalid. */
  readonly fromText: (text: string) => T | undefined;
  /** Checks a JSON or TOML value; undefined if invalid. */
  readonly fromValue: (value: unknown) => T | undefined;
}

const BOOLEANS = new Map([
  ...['true', '1', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off'].map((word) => [word, false] as const),
]);

export const BOOLEAN: Kind<boolean> = {
  allowed: 'true or false (1 or 0, yes or no, on or off)',
  json: 'boolean',
  fromText: (text) => BOOLEANS.get(text.trim().toLowerCase()),
  fromValue: (value) => (typeof value === 'boolean' ? value : undefined),
};

export const COUNT = numberKind('count', 'a whole number of at least 1', (count) =>
  Number.isSafeInteger(count),
);

export const MILLISECONDS = numberKind(
  'milliseconds',
  `a number of milliseconds from 1 to ${LONGEST_MS}`,
  (ms) => ms <= LONGEST_MS,
);

export const STRING: Kind<string> = {
  allowed: 'a string',
  json: 'string',
  fromText: (text) => text.trim(),
  fromValue: (value) => (typeof value === 'string' && value.trim() ? value.trim() : undefined),
};

/** A prefix for tool names; may be empty. */
export const PREFIX: Kind<string> = {
  canBeEmpty: true,
  allowed: 'a string',
  json: 'string',
  fromText: toNamePart,
  fromValue: (value) => (typeof value === 'string' ? toNamePart(value) : undefined),
};

export const STRINGS: Kind<readonly string[]> = {
  allowed: 'a list of strings, or one string with commas',
  json: 'strings',
  fromText: (text) => withoutEmpty(text.split(',')),
  fromValue: (value) => {
    if (typeof value === 'string') return withoutEmpty(value.split(','));
    const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
    return isList ? withoutEmpty(value) : undefined;
  },
};

/** Compared case-insensitively. */
export const WORDS: Kind<readonly string[]> = {
  ...STRINGS,
  fromText: (text) => STRINGS.fromText(text)?.map(lowerCase),
  fromValue: (value) => STRINGS.fromValue(value)?.map(lowerCase),
};

export function choice<const T extends string>(...words: readonly T[]): Kind<T> {
  const fromText = (text: string) => words.find((word) => word === text.trim().toLowerCase());
  return {
    allowed: words.join(' or '),
    json: words,
    fromText,
    fromValue: (value) => (typeof value === 'string' ? fromText(value) : undefined),
  };
}

function numberKind(
  json: 'count' | 'milliseconds',
  allowed: string,
  isValid: (number: number) => boolean,
): Kind<number> {
  const fromValue = (value: unknown) =>
    typeof value === 'number' && value >= 1 && isValid(value) ? value : undefined;
  return { allowed, json, fromText: (text) => fromValue(Number(text)), fromValue };
}

/** Tool names contain only letters, digits, `_` and `-`. */
function toNamePart(text: string): string {
  return text.trim().replaceAll(/[^A-Za-z0-9_-]/g, '_');
}

function withoutEmpty(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.trim() || []);
}

function lowerCase(text: string): string {
  return text.toLowerCase();
}
