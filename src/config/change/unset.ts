// Takes a key out of a JSON text and changes nothing else: the counterpart of edit.ts. Objects that
// hold nothing any more go with it, unless somebody wrote a comment into them.
import type { Node } from 'jsonc-parser';
import {
  findValue,
  indentOnOwnLine,
  lastCommentEnd,
  openSheet,
  type Sheet,
  scanTail,
} from './edit.ts';

/** The text without the value at this path; the same text if there is none. */
export async function unsetKey(text: string, path: readonly string[]): Promise<string> {
  const { mark, ...sheet } = await openSheet(text);
  let value = sheet.root;
  for (const key of path) value = value?.type === 'object' ? findValue(value, key) : undefined;
  const property = value?.parent;
  return property?.type === 'property' ? mark + cut(sheet, emptyWithout(sheet, property)) : text;
}

/** The outermost property that would hold nothing without this one. */
function emptyWithout(sheet: Sheet, property: Node): Node {
  const object = property.parent;
  const outer = object?.parent;
  if (!object || outer?.type !== 'property' || object.children?.length !== 1) return property;
  return hasComments(sheet, object, property) ? property : emptyWithout(sheet, outer);
}

/** Around the one property that an object has. */
function hasComments(sheet: Sheet, object: Node, { offset, length }: Node): boolean {
  const open = object.offset + 1;
  const close = object.offset + object.length - 1;
  const end = offset + length;
  return lastCommentEnd(sheet, open, offset) > open || lastCommentEnd(sheet, end, close) > end;
}

/** With its comma, and the comma before it where that would be the last; comments stay. */
function cut(sheet: Sheet, property: Node): string {
  const { text } = sheet;
  const siblings = property.parent?.children ?? [];
  const index = siblings.indexOf(property);
  const before = siblings[index - 1];
  const end = property.offset + property.length;
  const { commaEnd = end } = scanTail(sheet, end);
  const ownLine = indentOnOwnLine(text, property.offset) !== undefined;
  const start = startOfSpace(text, property.offset);
  if (siblings.length === 1) return cutOnly(sheet, property, commaEnd);
  // The first of several on one line: the next one takes its place.
  if (!before && !ownLine) {
    return text.slice(0, property.offset) + text.slice(endOfSpace(text, commaEnd));
  }
  const isLast = index === siblings.length - 1;
  const hasOwnComma = commaEnd > end;
  if (!isLast || hasOwnComma || !before) {
    return (
      text.slice(0, start) +
      text.slice(end, commaEnd - (hasOwnComma ? 1 : 0)) +
      text.slice(commaEnd)
    );
  }
  const comma = (scanTail(sheet, before.offset + before.length).commaEnd ?? start + 1) - 1;
  return text.slice(0, comma) + text.slice(comma + 1, start) + text.slice(end);
}

/** An object that held nothing else is written as one that never did. */
function cutOnly({ text }: Sheet, property: Node, commaEnd: number): string {
  const object = property.parent;
  const open = (object?.offset ?? 0) + 1;
  const close = (object?.offset ?? 0) + (object?.length ?? 0) - 1;
  const before = text.slice(open, property.offset);
  const after = text.slice(commaEnd, close);
  const rest = before.trim() === '' && after.trim() === '' ? '' : before.trimEnd() + after;
  return text.slice(0, open) + rest + text.slice(close);
}

/** The line break before a property and its indentation, or the gap on its line. */
function startOfSpace(text: string, offset: number): number {
  return offset - (/(?:\r\n|\r|\n)?[ \t]*$/.exec(text.slice(0, offset))?.[0].length ?? 0);
}

function endOfSpace(text: string, offset: number): number {
  return offset + (/^[ \t]*/.exec(text.slice(offset))?.[0].length ?? 0);
}
