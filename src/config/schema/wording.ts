// Phrases for mistakes in the configuration: what was expected, what was found, and where.
import type * as z from 'zod/mini';
import { didYouMean } from '../../base/text.ts';
import type { KeyPath } from '../files/position.ts';
import { isPlainObject } from './fits.ts';

export function describeUnknown(key: string, known: readonly string[]): string {
  return `unknown key. ${didYouMean(key, known) || `Known keys: ${known.join(', ')}.`}`;
}

export function describeExpected(issue: z.core.$ZodIssue): string {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- zod has more than we use
  switch (issue.code) {
    case 'invalid_type':
      return NOUNS.get(issue.expected) ?? issue.expected;
    case 'invalid_value':
      return formatChoice(issue.values.map((value) => JSON.stringify(value)));
    case 'too_small':
      return issue.origin === 'string'
        ? 'a non-empty string'
        : `a number of at least ${issue.minimum}`;
    case 'too_big':
      return `a number of at most ${issue.maximum}`;
    case 'invalid_union':
      return formatChoice([...new Set(issue.errors.flat().map((one) => describeExpected(one)))]);
    default:
      // The schema has no other checks.
      return issue.message;
  }
}

const NOUNS = new Map<string, string>([
  ['string', 'a string'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'a boolean'],
  ['array', 'an array'],
  ['object', 'an object'],
  ['record', 'an object'],
]);

function formatChoice(options: readonly string[]): string {
  return options.length < 2
    ? options.join('')
    : `${options.slice(0, -1).join(', ')} or ${options.at(-1)}`;
}

/**
 * Strings are quoted only in place of a number or an enum value. Anywhere else they may be misplaced secrets, and
 * errors end up in logs.
 */
export function describeActual(value: unknown, issue: z.core.$ZodIssue): string {
  if (value === undefined) return 'nothing';
  if (value === null || typeof value === 'number' || typeof value === 'boolean') {
    return String(value);
  }
  if (Array.isArray(value)) return 'an array';
  if (isPlainObject(value)) return 'an object';
  if (typeof value === 'object') return `an instance of ${value.constructor.name}`;
  if (value === '') return 'an empty string';
  const isHarmless =
    issue.code === 'invalid_value' ||
    (issue.code === 'invalid_type' && ['number', 'int'].includes(issue.expected));
  if (typeof value !== 'string' || !isHarmless) return `a ${typeof value}`;
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

export function formatPath(path: KeyPath): string {
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`;
      if (!/^[\w$@/-]+$/.test(key)) return `[${JSON.stringify(key)}]`;
      return index === 0 ? key : `.${key}`;
    })
    .join('');
}
