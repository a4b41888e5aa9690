// Removes a key from a JSON text and changes nothing else: the counterpart of edit.ts. Objects that become empty are
// removed too, unless they contain a comment.
import type { Node } from 'jsonc-parser';
import {
  findValue,
  indentOnOwnLine,
  type JsonDocument,
  lastCommentEnd,
  openDocument,
  scanTail,
} from './edit.ts';

/** Returns the text unchanged if there is no value at this path. */
export async function unsetKey(text: string, path: readonly string[]): Promise<string> {
  const { mark, ...document } = await openDocument(text);
  let value = document.root;
  for (const key of path) value = value?.type === 'object' ? findValue(value, key) : undefined;
  const property = value?.parent;
  return property?.type === 'property'
    ? mark + cut(document, emptyWithout(document, property))
    : text;
}

/** The outermost property that would be empty without this one. */
function emptyWithout(document: JsonDocument, property: Node): Node {
  const object = property.parent;
  const outer = object?.parent;
  if (!object || outer?.type !== 'property' || object.children?.length !== 1) return property;
  return hasComments(document, object, property) ? property : emptyWithout(document, outer);
}

/** Whether there are comments around an object's only property. */
function hasComments(document: JsonDocument, object: Node, { offset, length }: Node): boolean {
  const open = object.offset + 1;
  const close = object.offset + object.length - 1;
  const end = offset + length;
  return (
    lastCommentEnd(document, open, offset) > open || lastCommentEnd(document, end, close) > end
  );
}

/** Also removes its comma, or the one before it if that would become a trailing comma. Keeps comments. */
function cut(document: JsonDocument, property: Node): string {
  const { text } = document;
  const siblings = property.parent?.children ?? [];
  const index = siblings.indexOf(property);
  const before = siblings[index - 1];
  const end = property.offset + property.length;
  const { commaEnd = end } = scanTail(document, end);
  const ownLine = indentOnOwnLine(text, property.offset) !== undefined;
  const start = startOfSpace(text, property.offset);
  if (siblings.length === 1) return cutOnly(document, property, commaEnd);
  // The first of several on one line: the next one moves up.
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
  const comma = (scanTail(document, before.offset + before.length).commaEnd ?? start + 1) - 1;
  return text.slice(0, comma) + text.slice(comma + 1, start) + text.slice(end);
}

/** Leaves `{}` if nothing else is in the object. */
function cutOnly({ text }: JsonDocument, property: Node, commaEnd: number): string {
  const object = property.parent;
  const open = (object?.offset ?? 0) + 1;
  const close = (object?.offset ?? 0) + (object?.length ?? 0) - 1;
  const before = text.slice(open, property.offset);
  const after = text.slice(commaEnd, close);
  const rest = before.trim() === '' && after.trim() === '' ? '' : before.trimEnd() + after;
  return text.slice(0, open) + rest + text.slice(close);
}

/** Includes the line break and indentation before a property, or the space before it on its line. */
function startOfSpace(text: string, offset: number): number {
  return offset - (/(?:\r\n|\r|\n)?[ \t]*$/.exec(text.slice(0, offset))?.[0].length ?? 0);
}

function endOfSpace(text: string, offset: number): number {
  return offset + (/^[ \t]*/.exec(text.slice(offset))?.[0].length ?? 0);
}
