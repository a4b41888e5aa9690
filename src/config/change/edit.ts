// Sets one key in a JSON text and changes nothing else: comments, order, indentation, line endings and trailing commas
// are preserved. Uses only the parser and scanner of jsonc-parser: its modify() reformats the lines it touches, moves
// the comment after the last property to the added one, and changes the first of two duplicate keys (the last one
// counts).
import type { JSONScanner, Node } from 'jsonc-parser';
import { withoutByteOrderMark } from '../files/files.ts';

/** Creates missing objects along the path. */
export async function setKey(
  text: string,
  path: readonly string[],
  value: unknown,
): Promise<string> {
  const { mark, ...document } = await openDocument(text);
  let object = document.root;
  for (const [depth, key] of path.entries()) {
    if (object?.type !== 'object') throw new Error('There is no object to set a key in.');
    const found = findValue(object, key);
    if (!found) return mark + insert(document, object, key, nest(path.slice(depth + 1), value));
    object = found;
  }
  if (!object) throw new Error('A key needs a path.');
  const { getNodeValue } = await import('jsonc-parser');
  const isSame = JSON.stringify(getNodeValue(object)) === JSON.stringify(value);
  return isSame ? text : mark + replace(document, object, value);
}

export interface JsonDocument {
  /** Without the byte order mark. */
  readonly text: string;
  readonly root: Node | undefined;
  readonly scanner: Scanner;
}

/** `mark` is the byte order mark or an empty string. */
export async function openDocument(
  written: string,
): Promise<JsonDocument & { readonly mark: string }> {
  const { createScanner, parseTree } = await import('jsonc-parser');
  const text = withoutByteOrderMark(written);
  const root = parseTree(text, [], { allowTrailingComma: true });
  const mark = written.slice(0, written.length - text.length);
  return { text, root, scanner: createScanner(text), mark };
}

/** Token kinds are an enum; using it would mean loading jsonc-parser up front. */
type Scanner = Omit<JSONScanner, 'scan'> & { scan(): number };
const COMMA = 5;
const SPACES = 15;
const COMMENTS = new Set([12, 13]);

/** The last of several duplicate keys counts. */
export function findValue(object: Node, key: string): Node | undefined {
  return object.children?.findLast(({ children }) => children?.[0]?.value === key)?.children?.[1];
}

function nest(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => Object.fromEntries([[key, inner]]), value);
}

/** Spans several lines if the old value does. */
function replace(document: JsonDocument, { offset, length }: Node, value: unknown): string {
  const { text } = document;
  const end = offset + length;
  const isMultiLine = /[\r\n]/.test(text.slice(offset, end));
  const indent = isMultiLine ? indentOfLine(text, offset) : undefined;
  return text.slice(0, offset) + formatValue(value, layoutOf(document), indent) + text.slice(end);
}

function insert(document: JsonDocument, object: Node, key: string, value: unknown): string {
  const last = object.children?.at(-1);
  return last
    ? insertAfter(document, last, key, value)
    : insertIntoEmpty(document, object, key, value);
}

/** Adds a property after the last one, on its own line if that one is. */
function insertAfter(document: JsonDocument, last: Node, key: string, value: unknown): string {
  const { text } = document;
  const end = last.offset + last.length;
  const { commaEnd, commentEnd } = scanTail(document, end);
  const layout = layoutOf(document);
  const indent = indentOnOwnLine(text, last.offset);
  const [before, after] = commaEnd === undefined ? [',', ''] : ['', ','];
  if (indent === undefined) {
    const at = commaEnd ?? end;
    const property = formatProperty(key, value, layout, undefined);
    return `${text.slice(0, at)}${before}${layout.gap}${property}${after}${text.slice(at)}`;
  }
  const at = Math.max(end, commaEnd ?? 0, commentEnd ?? 0);
  const property = formatProperty(key, value, layout, indent);
  const line = `${layout.eol}${indent}${property}${after}`;
  return text.slice(0, end) + before + text.slice(end, at) + line + text.slice(at);
}

/** The ends of the comma and of the comments after a property. */
export function scanTail({ scanner }: JsonDocument, from: number) {
  let commaEnd: number | undefined;
  let commentEnd: number | undefined;
  scanner.setPosition(from);
  for (;;) {
    const kind = scanner.scan();
    const end = scanner.getTokenOffset() + scanner.getTokenLength();
    if (kind === COMMA && commaEnd === undefined) commaEnd = end;
    else if (COMMENTS.has(kind)) commentEnd = end;
    else if (kind !== SPACES) return { commaEnd, commentEnd };
  }
}

/** Adds the first property to an object, which may contain comments. */
function insertIntoEmpty(
  document: JsonDocument,
  object: Node,
  key: string,
  value: unknown,
): string {
  const { text, root } = document;
  const layout = layoutOf(document);
  const open = object.offset + 1;
  const close = object.offset + object.length - 1;
  const contentEnd = lastCommentEnd(document, open, close);
  const content = text.slice(open, contentEnd);
  const rest = text.slice(contentEnd, close);
  const property = object.parent;
  const isMultiLine =
    object === root ||
    /[\r\n]/.test(text.slice(open, close)) ||
    (property !== undefined && indentOnOwnLine(text, property.offset) !== undefined);
  if (!isMultiLine) {
    const inside = formatProperty(key, value, layout, undefined);
    return `${text.slice(0, open)}${content}${rest || layout.pad}${inside}${layout.pad}${text.slice(close)}`;
  }
  const base = indentOfLine(text, object.offset);
  const indent = base + layout.unit;
  const inside = formatProperty(key, value, layout, indent);
  const tail = /[\r\n]/.test(rest) ? rest : `${rest}${layout.eol}${base}`;
  return `${text.slice(0, open)}${content}${layout.eol}${indent}${inside}${tail}${text.slice(close)}`;
}

export function lastCommentEnd({ scanner }: JsonDocument, open: number, close: number): number {
  let end = open;
  scanner.setPosition(open);
  for (let kind = scanner.scan(); scanner.getTokenOffset() < close; kind = scanner.scan()) {
    if (COMMENTS.has(kind)) end = scanner.getTokenOffset() + scanner.getTokenLength();
  }
  return end;
}

/** The formatting style of the text. */
interface Layout {
  readonly eol: string;
  /** One step of indentation. */
  readonly unit: string;
  /** Between a key and its value. */
  readonly colon: string;
  /** Between a comma and the next property on the same line. */
  readonly gap: string;
  /** Inside the braces of an object on one line. */
  readonly pad: string;
}

/** Taken from the first property; otherwise the default. */
function layoutOf({ text, root }: JsonDocument): Layout {
  const eol = /\r\n|\r|\n/.exec(text)?.[0] ?? '\n';
  const first = root?.children?.[0];
  const [key, value] = first?.children ?? [];
  if (!root || !first || !key || !value)
    return { eol, unit: '  ', colon: ': ', gap: ' ', pad: ' ' };
  const between = text.slice(key.offset + key.length, value.offset);
  const colon = /^[ \t]*:[ \t]*$/.test(between) ? between : ': ';
  const pad = text.slice(root.offset + 1, first.offset);
  return {
    eol,
    unit: indentOnOwnLine(text, first.offset) ?? '  ',
    colon,
    gap: colon.endsWith(':') ? '' : ' ',
    pad: /^[ \t]*$/.test(pad) ? pad : ' ',
  };
}

/** On one line if `indent` is undefined. */
function formatProperty(
  key: string,
  value: unknown,
  layout: Layout,
  indent: string | undefined,
): string {
  return `${JSON.stringify(key)}${layout.colon}${formatValue(value, layout, indent)}`;
}

function formatValue(value: unknown, layout: Layout, indent: string | undefined): string {
  if (Array.isArray(value)) return formatList(value, layout, indent);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const { eol, unit, gap, pad } = layout;
  const inner = indent === undefined ? undefined : indent + unit;
  const properties = Object.entries(value).map(([key, member]) =>
    formatProperty(key, member, layout, inner),
  );
  if (properties.length === 0) return '{}';
  return inner === undefined
    ? `{${pad}${properties.join(`,${gap}`)}${pad}}`
    : `{${eol}${inner}${properties.join(`,${eol}${inner}`)}${eol}${indent}}`;
}

/** Longer lists span several lines. */
const MAX_LIST_LENGTH = 80;

function formatList(items: readonly unknown[], layout: Layout, indent: string | undefined): string {
  const { eol, unit, gap } = layout;
  const inLine = items.map((item) => formatValue(item, layout, undefined)).join(`,${gap}`);
  if (indent === undefined || inLine.length <= MAX_LIST_LENGTH) return `[${inLine}]`;
  const inner = indent + unit;
  const onLines = items.map((item) => formatValue(item, layout, inner));
  return `[${eol}${inner}${onLines.join(`,${eol}${inner}`)}${eol}${indent}]`;
}

/** The indentation, if nothing else precedes the offset on its line. */
export function indentOnOwnLine(text: string, offset: number): string | undefined {
  return /(?:\r|\n)([ \t]*)$/.exec(text.slice(0, offset))?.[1];
}

function indentOfLine(text: string, offset: number): string {
  return /(?:^|\r|\n)([ \t]*)[^\r\n]*$/.exec(text.slice(0, offset))?.[1] ?? '';
}
