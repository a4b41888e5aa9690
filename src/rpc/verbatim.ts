// A JSON value together with the very text it arrived as. A proxy that parses and serialises again
// changes what it passes on: integers beyond 2^53 are rounded, 1.0 becomes 1, deep nesting
// overflows the stack. So values that only pass through are sent on as text.

export class Verbatim {
  readonly text: string;
  readonly value: unknown;

  constructor(text: string, value: unknown) {
    this.text = text;
    this.value = value;
  }

  /** A value of our own, in the same dress as those that pass through. */
  static of(value: unknown): Verbatim {
    return new Verbatim(JSON.stringify(value) ?? 'null', value);
  }

  /** The member at a path of object keys, or undefined where there is none. */
  member(...path: string[]): Verbatim | undefined {
    let { text, value } = this as { text: string; value: unknown };
    for (const key of path) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key))
        return undefined;
      value = (value as Record<string, unknown>)[key];
      text = memberText(text, key);
    }
    return new Verbatim(text, value);
  }
}

/** How deep brackets nest in a JSON text. */
export function nestingDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) deepest = Math.max(deepest, ++depth);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return deepest;
}

// The texts below have been through JSON.parse, so they are known to be well-formed: the scanner
// only has to find where things end.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const SPACE = 0x20;

/** The text of an object's member. Of several with one key the last counts, as in JSON.parse. */
function memberText(object: string, key: string): string {
  const quoted = JSON.stringify(key);
  let found = '';
  let at = skipBlanks(object, object.indexOf('{') + 1);
  while (object.charCodeAt(at) === QUOTE) {
    const keyEnd = endOfString(object, at);
    const start = skipBlanks(object, skipBlanks(object, keyEnd) + 1);
    const end = endOfValue(object, start);
    if (isKey(object.slice(at, keyEnd), quoted, key)) found = object.slice(start, end);
    at = skipBlanks(object, end);
    if (object.charCodeAt(at) === COMMA) at = skipBlanks(object, at + 1);
  }
  return found;
}

function isKey(written: string, quoted: string, key: string): boolean {
  if (written === quoted) return true;
  return written.includes('\\') && JSON.parse(written) === key;
}

function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return endOfString(text, start);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return endOfBrackets(text, start);
  let at = start;
  while (at < text.length && !isDelimiter(text.charCodeAt(at))) at++;
  return at;
}

function endOfBrackets(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return at + 1;
  }
  return text.length;
}

/** The index behind the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at !== -1) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at + 1;
    at = text.indexOf('"', at + 1);
  }
  return text.length;
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) <= SPACE) at++;
  return at;
}

function isDelimiter(code: number): boolean {
  return code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code <= SPACE;
}
