// Puts entries into a JSON text that people write by hand. A new entry goes to the end, on lines of its
// own, and nothing before it changes but for a comma: jsonc-parser alone would reformat its neighbour
// and move the comment behind that one to the new entry.
import { withoutByteOrderMark } from '../config/files.ts';

type Parser = typeof import('jsonc-parser');

interface Entry {
  /** Keys from the outermost object to the entry. */
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The text, which must be sound, with these entries in it; those that are there are replaced. */
export async function withEntries(text: string, entries: readonly Entry[]): Promise<string> {
  const parser = await import('jsonc-parser');
  const json = withoutByteOrderMark(text);
  const mark = text.slice(0, text.length - json.length);
  return mark + entries.reduce((before, entry) => withEntry(before, entry, parser), json);
}

function withEntry(json: string, entry: Entry, parser: Parser): string {
  const { path, value } = entry;
  const tree = parser.parseTree(json, [], { allowTrailingComma: true });
  const object = tree && parser.findNodeAtLocation(tree, path.slice(0, -1));
  const isNew = tree && !parser.findNodeAtLocation(tree, [...path]);
  const { indent, eol } = styleOf(json);
  if (!object || !isNew) {
    const formattingOptions = { insertSpaces: indent !== '\t', tabSize: indent.length, eol };
    return parser.applyEdits(json, parser.modify(json, [...path], value, { formattingOptions }));
  }
  const last = object.children?.at(-1);
  const begin = last ? last.offset + last.length : object.offset + 1;
  const end = object.offset + object.length - 1;
  const comma = last && !hasComma(json, begin, parser) ? ',' : '';
  const lines = [
    `${json.slice(0, begin)}${comma}${json.slice(begin, end).trimEnd()}`,
    ...formatEntry(entry, indent),
    `${indent.repeat(path.length - 1)}${json.slice(end)}`,
  ];
  return lines.join(eol);
}

function styleOf(json: string): { readonly indent: string; readonly eol: string } {
  const indent = /^( +|\t)["}]/m.exec(json)?.[1] ?? '  ';
  return { indent, eol: json.includes('\r\n') ? '\r\n' : '\n' };
}

function formatEntry({ path, value }: Entry, indent: string): string[] {
  const text = `${JSON.stringify(path.at(-1))}: ${JSON.stringify(value, null, indent)}`;
  return text.split('\n').map((line) => indent.repeat(path.length) + line);
}

/** Whether a comma follows already: one behind the last entry is allowed. */
function hasComma(json: string, offset: number, { createScanner }: Parser): boolean {
  const scanner = createScanner(json, true);
  scanner.setPosition(offset);
  scanner.scan();
  return json[scanner.getTokenOffset()] === ',';
}
