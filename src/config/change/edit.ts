// Sets one key in a JSON text and changes nothing else: comments, order, indentation, line ends and
// trailing commas stay as their author left them. Of jsonc-parser only parser and scanner are used:
// its modify() lays out anew the lines it touches, gives the comment behind the last property to the
// one that is added, and changes the first of two equal keys, of which the last one counts.
import type { JSONScanner, Node } from 'jsonc-parser';
import { withoutByteOrderMark } from '../files/files.ts';

/** The text with the value at this path. Objects on the way that are not there are added. */
export async function setKey(
  text: string,
  path: readonly string[],
  value: unknown,
): Promise<string> {
  const { mark, ...sheet } = await openSheet(text);
  let object = sheet.root;
  for (const [depth, key] of path.entries()) {
    if (object?.type !== 'object') throw new Error('There is no object to set a key in.');
    const found = findValue(object, key);
    if (!found) return mark + insert(sheet, object, key, nest(path.slice(depth + 1), value));
    object = found;
  }
  if (!object) throw new Error('A key needs a path.');
  const { getNodeValue } = await import('jsonc-parser');
  const isSame = JSON.stringify(getNodeValue(object)) === JSON.stringify(value);
  return isSame ? text : mark + replace(sheet, object, value);
}

/** A JSON text, laid out to be changed. */
export interface Sheet {
  /** Without its byte order mark. */
  readonly text: string;
  readonly root: Node | undefined;
  readonly scanner: Scanner;
}

/** `mark` is the byte order mark, or nothing. */
export async function openSheet(written: string): Promise<Sheet & { readonly mark: string }> {
  const { createScanner, parseTree } = await import('jsonc-parser');
  const text = withoutByteOrderMark(written);
  const root = parseTree(text, [], { allowTrailingComma: true });
  const mark = written.slice(0, written.length - text.length);
  return { text, root, scanner: createScanner(text), mark };
}

/** The kinds of tokens are an enum, which would have to be loaded to be named. */
type Scanner = Omit<JSONScanner, 'scan'> & { scan(): number };
const COMMA = 5;
const SPACES = 15;
const COMMENTS = new Set([12, 13]);

/** Of several equal keys the last one counts. */
export function findValue(object: Node, key: string): Node | undefined {
  return object.children?.findLast(({ children }) => children?.[0]?.value === key)?.children?.[1];
}

function nest(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => Object.fromEntries([[key, inner]]), value);
}

/** Over several lines where the old value is. */
function replace(sheet: Sheet, { offset, length }: Node, value: unknown): string {
  const { text } = sheet;
  const end = offset + length;
  const isSpread = /[\r\n]/.test(text.slice(offset, end));
  const indent = isSpread ? indentOfLine(text, offset) : undefined;
  return text.slice(0, offset) + formatValue(value, layoutOf(sheet), indent) + text.slice(end);
}

function insert(sheet: Sheet, object: Node, key: string, value: unknown): string {
  const last = object.children?.at(-1);
  return last ? insertBehind(sheet, last, key, value) : insertIntoEmpty(sheet, object, key, value);
}

/** Puts a property behind the last one: on a line of its own if that has one, else beside it. */
function insertBehind(sheet: Sheet, last: Node, key: string, value: unknown): string {
  const { text } = sheet;
  const end = last.offset + last.length;
  const { commaEnd, commentEnd } = scanTail(sheet, end);
  const layout = layoutOf(sheet);
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

/** A comma behind a property, and the comments that follow on the same line. */
export function scanTail({ scanner }: Sheet, from: number) {
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

/** Puts the first property into an object, which may hold comments. */
function insertIntoEmpty(sheet: Sheet, object: Node, key: string, value: unknown): string {
  const { text, root } = sheet;
  const layout = layoutOf(sheet);
  const open = object.offset + 1;
  const close = object.offset + object.length - 1;
  const contentEnd = lastCommentEnd(sheet, open, close);
  const content = text.slice(open, contentEnd);
  const rest = text.slice(contentEnd, close);
  const property = object.parent;
  const isSpread =
    object === root ||
    /[\r\n]/.test(text.slice(open, close)) ||
    (property !== undefined && indentOnOwnLine(text, property.offset) !== undefined);
  if (!isSpread) {
    const inside = formatProperty(key, value, layout, undefined);
    return `${text.slice(0, open)}${content}${rest || layout.pad}${inside}${layout.pad}${text.slice(close)}`;
  }
  const base = indentOfLine(text, object.offset);
  const indent = base + layout.unit;
  const inside = formatProperty(key, value, layout, indent);
  const tail = /[\r\n]/.test(rest) ? rest : `${rest}${layout.eol}${base}`;
  return `${text.slice(0, open)}${content}${layout.eol}${indent}${inside}${tail}${text.slice(close)}`;
}

export function lastCommentEnd({ scanner }: Sheet, open: number, close: number): number {
  let end = open;
  scanner.setPosition(open);
  for (let kind = scanner.scan(); scanner.getTokenOffset() < close; kind = scanner.scan()) {
    if (COMMENTS.has(kind)) end = scanner.getTokenOffset() + scanner.getTokenLength();
  }
  return end;
}

/** How the author writes. */
interface Layout {
  readonly eol: string;
  /** One step of indentation. */
  readonly unit: string;
  /** What stands between a key and its value. */
  readonly colon: string;
  /** What stands between a comma and the next property on the same line. */
  readonly gap: string;
  /** What stands inside of the braces of an object on one line. */
  readonly pad: string;
}

/** As seen in the first property; where there is none, as is usual. */
function layoutOf({ text, root }: Sheet): Layout {
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

/** Spread over lines with this indentation, or on one line where there is none. */
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

/** So many characters of a list stand on one line; one that is longer is spread, too. */
const LONGEST_LIST = 80;

function formatList(items: readonly unknown[], layout: Layout, indent: string | undefined): string {
  const { eol, unit, gap } = layout;
  const inLine = items.map((item) => formatValue(item, layout, undefined)).join(`,${gap}`);
  if (indent === undefined || inLine.length <= LONGEST_LIST) return `[${inLine}]`;
  const inner = indent + unit;
  const onLines = items.map((item) => formatValue(item, layout, inner));
  return `[${eol}${inner}${onLines.join(`,${eol}${inner}`)}${eol}${indent}]`;
}

/** The indentation of what begins its line; undefined if something stands before it. */
export function indentOnOwnLine(text: string, offset: number): string | undefined {
  return /(?:\r|\n)([ \t]*)$/.exec(text.slice(0, offset))?.[1];
}

function indentOfLine(text: string, offset: number): string {
  return /(?:^|\r|\n)([ \t]*)[^\r\n]*$/.exec(text.slice(0, offset))?.[1] ?? '';
}
