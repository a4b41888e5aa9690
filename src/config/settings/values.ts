// Values that a variable of the environment, config.toml or a main file can hold, for settings that can
// be written in all three: what is allowed, and what it means.
import { LONGEST_MS } from '../defaults.ts';

export interface Kind<T> {
  /** What may stand there, in words that follow "must be". */
  readonly allowed: string;
  /** How JSON writes it; a list of words is a choice among them. */
  readonly json: 'boolean' | 'count' | 'milliseconds' | 'text' | 'texts' | readonly string[];
  /** Whether an empty string is a value; otherwise it is as good as none. */
  readonly canBeEmpty?: true;
  /** The value of a variable; undefined if it is none. */
  readonly fromText: (text: string) => T | undefined;
  /** The value in JSON or TOML; undefined if it is none. */
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

/** A path, as written. */
export const TEXT: Kind<string> = {
  allowed: 'a text',
  json: 'text',
  fromText: (text) => text.trim(),
  fromValue: (value) => (typeof value === 'string' && value.trim() ? value.trim() : undefined),
};

/** What tool names begin with. Empty: no prefix. */
export const PREFIX: Kind<string> = {
  canBeEmpty: true,
  allowed: 'a text',
  json: 'text',
  fromText: toNamePart,
  fromValue: (value) => (typeof value === 'string' ? toNamePart(value) : undefined),
};

export const TEXTS: Kind<readonly string[]> = {
  allowed: 'a list of texts, or a text with commas',
  json: 'texts',
  fromText: (text) => withoutEmpty(text.split(',')),
  fromValue: (value) => {
    if (typeof value === 'string') return withoutEmpty(value.split(','));
    const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
    return isList ? withoutEmpty(value) : undefined;
  },
};

/** Texts that are compared without regard to case. */
export const WORDS: Kind<readonly string[]> = {
  ...TEXTS,
  fromText: (text) => TEXTS.fromText(text)?.map(lowerCase),
  fromValue: (value) => TEXTS.fromValue(value)?.map(lowerCase),
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
  isPossible: (number: number) => boolean,
): Kind<number> {
  const fromValue = (value: unknown) =>
    typeof value === 'number' && value >= 1 && isPossible(value) ? value : undefined;
  return { allowed, json, fromText: (text) => fromValue(Number(text)), fromValue };
}

/** Tool names have letters, digits, `_` and `-`. */
function toNamePart(text: string): string {
  return text.trim().replaceAll(/[^A-Za-z0-9_-]/g, '_');
}

function withoutEmpty(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.trim() || []);
}

function lowerCase(text: string): string {
  return text.toLowerCase();
}
