// Lenient readers for values in agent files. Users write lists as strings and strings as numbers.
import { AgentFileError } from './draft.ts';

/** Numbers and booleans count as strings. Undefined for anything else, and for a blank string. */
export function textOf(value: unknown): string | undefined {
  const isText = ['string', 'number', 'boolean', 'bigint'].includes(typeof value);
  const text = isText ? String(value).trim() : '';
  return text === '' ? undefined : text;
}

/** Reads a list of strings, or one string split at `separators`. Ignores items that aren't strings. */
export function listOf(value: unknown, separators: RegExp): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => textOf(item) ?? []);
  return (textOf(value) ?? '')
    .split(separators)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export const COMMAS = /,/;
export const COMMAS_AND_SPACES = /[,\s]+/;

/**
 * Splits tools at commas and spaces outside of parentheses. Parentheses narrow the tool before them, as in
 * `Bash(git diff:*)`, and are dropped.
 */
export function toolsOf(value: unknown): string[] {
  const items = Array.isArray(value) ? listOf(value, COMMAS) : splitTools(textOf(value) ?? '');
  return items.map((item) => item.replace(/\(.*$/s, '').trim()).filter((item) => item !== '');
}

function splitTools(text: string): string[] {
  const items: string[] = [];
  let item = '';
  let depth = 0;
  for (const letter of text) {
    if (letter === '(') depth++;
    if (letter === ')') depth = Math.max(0, depth - 1);
    if (depth === 0 && COMMAS_AND_SPACES.test(letter)) {
      items.push(item);
      item = '';
    } else {
      item += letter;
    }
  }
  return [...items, item];
}

/** For error messages. Doesn't quote strings: one may be a secret in the wrong place. */
export function describeValue(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value !== 'object') return `a ${typeof value}`;
  return value instanceof Date ? 'a date' : 'a table';
}

/** Throws an `AgentFileError` if the key is missing, blank or not a string. */
export function requiredText(
  values: Readonly<Record<string, unknown>>,
  key: string,
  lineOf: (key: string) => number,
): string {
  const value = values[key];
  const text = textOf(value);
  if (text !== undefined) return text;
  if (typeof value === 'object' && value !== null) {
    const problem = `${key}: expected a string, got ${describeValue(value)}.`;
    throw new AgentFileError(lineOf(key), problem);
  }
  throw new AgentFileError(lineOf(key), `Missing ${key}.`, key);
}
