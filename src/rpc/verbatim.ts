// A JSON value together with the text it arrived as. A proxy that parses and serializes changes what it forwards:
// integers beyond 2^53 are rounded, 1.0 becomes 1, deep nesting overflows the stack. So values that only pass through are
// forwarded as text.
import { toOneLine } from './one-line.ts';

/** A value that hasn't been parsed yet. */
const UNREAD = Symbol('unread');

export class Verbatim {
  #value: unknown;
  #text: string | undefined;
  readonly #parent: Verbatim | undefined;
  readonly #key: string | undefined;

  /** Without a text (for our own values), it is serialized from the value. */
  constructor(text: string | undefined, value: unknown, parent?: Verbatim, key?: string) {
    this.#text = text;
    this.#value = value;
    this.#parent = parent;
    this.#key = key;
  }

  static of(value: unknown): Verbatim {
    return new Verbatim(undefined, value);
  }

  /** Text we wrote ourselves. It's parsed on first use, because usually it's only sent. */
  static fromText(text: string): Verbatim {
    return new Verbatim(text, UNREAD);
  }

  /** Parses JSON from a string value. Throws a SyntaxError if it's invalid. */
  static parse(text: string): Verbatim {
    const value: unknown = JSON.parse(text);
    return new Verbatim(toOneLine(text), value);
  }

  get value(): unknown {
    if (this.#value === UNREAD) this.#value = JSON.parse(this.text);
    return this.#value;
  }

  /** Located or serialized on first use: many values are only read. */
  get text(): string {
    this.#text ??=
      this.#parent === undefined || this.#key === undefined
        ? (JSON.stringify(this.value) ?? 'null')
        : this.#parent.#textAt([this.#key]);
    return this.#text;
  }

  /** The text's bytes, if it arrived as so many that it wasn't decoded. */
  get pieces(): readonly Buffer[] | undefined {
    return undefined;
  }

  /** How many bytes the text has. */
  get byteLength(): number {
    return Buffer.byteLength(this.text);
  }

  /** An upper bound for the text's length that costs nothing to get. */
  get maxLength(): number {
    return this.#text?.length ?? this.#parent?.maxLength ?? this.text.length;
  }

  /** The member at a path of object keys, if there is one. */
  member(key: string, ...below: string[]): Verbatim | undefined {
    const { value } = this;
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    const member = (value as Record<string, unknown>)[key];
    const found = new Verbatim(undefined, member, this, key);
    const [next, ...rest] = below;
    return next === undefined ? found : found.member(next, ...rest);
  }

  /** A copy that doesn't keep the message it came in alive. */
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

  /** The object with one member replaced. Throws if it has no such member. */
  with(key: string, member: Verbatim): Verbatim {
    const { text } = this;
    const { start, end } = memberSpan(text, [key]);
    const replaced = text.slice(0, start) + member.text + text.slice(end);
    return new Verbatim(replaced, { ...(this.value as object), [key]: member.value });
  }

  /** The object with a member replaced or added. */
  set(key: string, member: Verbatim): Verbatim {
    const own = this.value as object;
    if (Object.hasOwn(own, key)) return this.with(key, member);
    const inner = this.text.trim().slice(1, -1).trim();
    const text = `{${JSON.stringify(key)}:${member.text}${inner === '' ? '' : `,${inner}`}}`;
    return new Verbatim(text, { ...own, [key]: member.value });
  }

  /** The object with another's members before its own. They must not share any key. */
  prepend(members: Verbatim): Verbatim {
    const { text } = this;
    const inner = skipBlanks(text, text.indexOf('{') + 1);
    const isEmpty = text.charCodeAt(inner) === CLOSE_BRACE;
    const head = members.text.slice(0, -1);
    return Verbatim.fromText(`${head}${isEmpty ? '' : ','}${text.slice(inner)}`);
  }

  /** The object without some of its members. */
  without(...keys: string[]): Verbatim {
    const own = this.value as Record<string, unknown>;
    if (!keys.some((key) => Object.hasOwn(own, key))) return this;
    const { text } = this;
    const left = Object.keys(own).filter((key) => !keys.includes(key));
    const parts = left.map((key) => `${JSON.stringify(key)}:${memberText(text, [key])}`);
    const value = Object.fromEntries(left.map((key) => [key, own[key]]));
    return new Verbatim(`{${parts.join(',')}}`, value);
  }

  /** The array with one more element. */
  append(element: Verbatim): Verbatim {
    const items = Array.isArray(this.value) ? this.value : [];
    const inner = this.text.trim().slice(1, -1).trim();
    const text = `[${inner}${inner === '' ? '' : ','}${element.text}]`;
    return new Verbatim(text, [...(items as unknown[]), element.value]);
  }

  /** Searches the nearest ancestor that has its text. The ones in between may never be needed. */
  #textAt(path: readonly string[]): string {
    return this.#text === undefined && this.#parent && this.#key !== undefined
      ? this.#parent.#textAt([this.#key, ...path])
      : memberText(this.text, path);
  }
}

/** How deep the brackets in a JSON text nest. */
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

// All texts below have passed JSON.parse, so the scanner only has to find where things end.

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
 * Where the member at a path is. If a key is repeated the last one wins, as in JSON.parse. Throws if there is none: an
 * empty span would put the new text in front of the object.
 */
export function memberSpan(object: string, path: readonly string[]): Span {
  const span: Span = { start: 0, end: 0 };
  const open = skipBlanks(object, 0);
  if (object.charCodeAt(open) === OPEN_BRACE) walkObject(object, open, path, 0, span);
  if (span.end === 0) throw new Error(`There is no member "${path.join('.')}".`);
  return span;
}

/** Sets `found` if this object contains the member; returns where the object ends. */
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
  // With a backslash, the text differs from the key it stands for.
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

/** The index after the closing quote of the string that opens at `start`. */
export function endOfString(text: string, start: number): number {
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
