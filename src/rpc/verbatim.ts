// A JSON value together with the very text it arrived as. A proxy that parses and serialises again
// changes what it passes on: integers beyond 2^53 are rounded, 1.0 becomes 1, deep nesting
// overflows the stack. So values that only pass through are sent on as text.
import { toOneLine } from './one-line.ts';

/** Stands for a value that nobody has wanted to know yet. */
const UNREAD = Symbol('unread');

export class Verbatim {
  #value: unknown;
  #text: string | undefined;
  readonly #parent: Verbatim | undefined;
  readonly #key: string | undefined;

  /** Without a text, the text is what the value is written as: for values of our own. */
  constructor(text: string | undefined, value: unknown, parent?: Verbatim, key?: string) {
    this.#text = text;
    this.#value = value;
    this.#parent = parent;
    this.#key = key;
  }

  static of(value: unknown): Verbatim {
    return new Verbatim(undefined, value);
  }

  /** A text of our own making. Its value is read when it is wanted: mostly it is only sent. */
  static fromText(text: string): Verbatim {
    return new Verbatim(text, UNREAD);
  }

  /** Reads JSON that was written inside a string. Throws a SyntaxError if it is not valid. */
  static parse(text: string): Verbatim {
    const value: unknown = JSON.parse(text);
    return new Verbatim(toOneLine(text), value);
  }

  get value(): unknown {
    if (this.#value === UNREAD) this.#value = JSON.parse(this.text);
    return this.#value;
  }

  /** Found or made when it is first wanted: many values are only looked at. */
  get text(): string {
    this.#text ??=
      this.#parent === undefined || this.#key === undefined
        ? (JSON.stringify(this.value) ?? 'null')
        : this.#parent.#textAt([this.#key]);
    return this.#text;
  }

  /** What the length of the text does not exceed: known without looking for it. */
  get maxLength(): number {
    return this.#text?.length ?? this.#parent?.maxLength ?? this.text.length;
  }

  /** The member at a path of object keys, or undefined where there is none. */
  member(key: string, ...below: string[]): Verbatim | undefined {
    const { value } = this;
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    const member = (value as Record<string, unknown>)[key];
    const found = new Verbatim(undefined, member, this, key);
    const [next, ...rest] = below;
    return next === undefined ? found : found.member(next, ...rest);
  }

  /** The same to be kept: it does not hold on to the message that it came in. */
  detached(): Verbatim {
    return new Verbatim(Buffer.from(this.text).toString(), this.value);
  }

  /** The elements of an array. */
  elements(): Verbatim[] {
    const { text, value } = this;
    if (!Array.isArray(value)) return [];
    let at = text.indexOf('[') + 1;
    return value.map((element: unknown) => {
      const start = skipBlanks(text, at);
      const end = endOfValue(text, start);
      at = skipBlanks(text, end) + 1;
      return new Verbatim(text.slice(start, end), element);
    });
  }

  /** The same object with one of its members replaced. Throws if it has no such member. */
  with(key: string, member: Verbatim): Verbatim {
    const { text } = this;
    const { start, end } = memberSpan(text, [key]);
    const replaced = text.slice(0, start) + member.text + text.slice(end);
    return new Verbatim(replaced, { ...(this.value as object), [key]: member.value });
  }

  /** The same object with a member set, replaced where it is there and added where it is not. */
  set(key: string, member: Verbatim): Verbatim {
    const own = this.value as object;
    if (Object.hasOwn(own, key)) return this.with(key, member);
    const inner = this.text.trim().slice(1, -1).trim();
    const text = `{${JSON.stringify(key)}:${member.text}${inner === '' ? '' : `,${inner}`}}`;
    return new Verbatim(text, { ...own, [key]: member.value });
  }

  /** The same object with the members of another, none of which it has, before its own. */
  prepend(members: Verbatim): Verbatim {
    const { text } = this;
    const inner = skipBlanks(text, text.indexOf('{') + 1);
    const isEmpty = text.charCodeAt(inner) === CLOSE_BRACE;
    const head = members.text.slice(0, -1);
    return Verbatim.fromText(`${head}${isEmpty ? '' : ','}${text.slice(inner)}`);
  }

  /** The same object without some of its members. */
  without(...keys: string[]): Verbatim {
    const own = this.value as Record<string, unknown>;
    if (!keys.some((key) => Object.hasOwn(own, key))) return this;
    const { text } = this;
    const left = Object.keys(own).filter((key) => !keys.includes(key));
    const parts = left.map((key) => `${JSON.stringify(key)}:${memberText(text, [key])}`);
    const value = Object.fromEntries(left.map((key) => [key, own[key]]));
    return new Verbatim(`{${parts.join(',')}}`, value);
  }

  /** The same array with one more element. */
  append(element: Verbatim): Verbatim {
    const items = Array.isArray(this.value) ? this.value : [];
    const inner = this.text.trim().slice(1, -1).trim();
    const text = `[${inner}${inner === '' ? '' : ','}${element.text}]`;
    return new Verbatim(text, [...(items as unknown[]), element.value]);
  }

  /** Looks for it in the text of the nearest that has one: those between are mostly not wanted. */
  #textAt(path: readonly string[]): string {
    return this.#text === undefined && this.#parent && this.#key !== undefined
      ? this.#parent.#textAt([this.#key, ...path])
      : memberText(this.text, path);
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

function memberText(object: string, path: readonly string[]): string {
  const { start, end } = memberSpan(object, path);
  return object.slice(start, end);
}

interface Span {
  start: number;
  end: number;
}

/**
 * Where the member at a path is. Of several with one key the last counts, as in JSON.parse. Throws if
 * there is none: a span of nothing would put the new text in front of the object.
 */
function memberSpan(object: string, path: readonly string[]): Span {
  const span: Span = { start: 0, end: 0 };
  const open = skipBlanks(object, 0);
  if (object.charCodeAt(open) === OPEN_BRACE) walkObject(object, open, path, 0, span);
  if (span.end === 0) throw new Error(`There is no member "${path.join('.')}".`);
  return span;
}

/** Notes where the member is, if this object or one in it has it; gives where the object ends. */
function walkObject(
  text: string,
  open: number,
  path: readonly string[],
  depth: number,
  found: Span,
): number {
  let at = skipBlanks(text, open + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = endOfString(text, at);
    const start = skipBlanks(text, skipBlanks(text, keyEnd) + 1);
    const isOnPath = isKey(text, at, keyEnd, path[depth] ?? '');
    const isLast = depth === path.length - 1;
    const end =
      isOnPath && !isLast && text.charCodeAt(start) === OPEN_BRACE
        ? walkObject(text, start, path, depth + 1, found)
        : endOfValue(text, start);
    if (isOnPath && isLast) {
      found.start = start;
      found.end = end;
    }
    at = skipBlanks(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipBlanks(text, at + 1);
  }
  return at + 1;
}

function isKey(text: string, start: number, end: number, key: string): boolean {
  const isSame = end - start === key.length + 2 && text.startsWith(key, start + 1);
  // What is written with a backslash means something else than it says.
  if (isSame && !key.includes('\\')) return true;
  const first = text.charCodeAt(start + 1);
  if (first !== BACKSLASH && first !== key.charCodeAt(0)) return false;
  const written = text.slice(start, end);
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
