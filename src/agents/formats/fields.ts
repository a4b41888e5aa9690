// Values of a file, taken for what they can mean. YAML and TOML agree on little; people write a list as a
// text and a text as a number.

/** Undefined for what is no text, or a blank one. A number or a switch is a text, too. */
export function textOf(value: unknown): string | undefined {
  const isText = ['string', 'number', 'boolean', 'bigint'].includes(typeof value);
  const text = isText ? String(value).trim() : '';
  return text === '' ? undefined : text;
}

/** A list of texts, or one text that `separators` split. What is no text in a list is left out. */
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
 * Tools are split on commas and spaces, except within parentheses: what stands there narrows the tool
 * before them, as in `Bash(git diff:*)`, and goes with it.
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

/** Something in a sentence about what is wrong with it. A text may be a secret in the wrong place. */
export function describeValue(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value !== 'object') return `a ${typeof value}`;
  return value instanceof Date ? 'a date' : 'a table';
}
