// Parses TOML, and finds the lines of keys for messages: the parser reports them only for syntax errors.
import { isObject } from '../../base/object.ts';
import { parseToml } from '../../config/files/toml.ts';
import { AgentFileError } from './draft.ts';

export interface Toml {
  readonly table: Readonly<Record<string, unknown>>;
  /** The line of a key, of the first key below it, or of the nearest enclosing table. */
  readonly lineOf: (...path: string[]) => number;
}

/** Throws an `AgentFileError` if it isn't TOML. */
export async function readToml(text: string): Promise<Toml> {
  const parsed = await parseToml(text);
  if ('problem' in parsed) throw new AgentFileError(parsed.line, parsed.problem);
  return { ...parsed, lineOf: (...path) => findLine(text, path) };
}

export function isTable(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !(value instanceof Date);
}

/**
 * Good enough for a message: tables and keys are at the start of a line. Skips multi-line strings.
 */
function findLine(text: string, path: readonly string[]): number {
  let best = { line: 1, length: 0 };
  let table: string[] = [];
  let quotes: string | undefined;
  for (const [index, line] of text.split(/\r\n|\n/).entries()) {
    const marks = line.match(/"""|'''/g) ?? [];
    const isInside = quotes !== undefined;
    for (const mark of marks) {
      if (quotes === undefined) quotes = mark;
      else if (quotes === mark) quotes = undefined;
    }
    if (isInside) continue;
    const header = /^\[\[?([^\]]+)\]/.exec(line.trimStart())?.[1];
    if (header !== undefined) table = keysIn(header);
    else if (!line.includes('=')) continue;
    const key = header === undefined ? line.slice(0, line.indexOf('=')) : '';
    const here = [...table, ...keysIn(key)].slice(0, path.length);
    const fits = here.every((part, at) => part === path[at]);
    if (fits && here.length > best.length) best = { line: index + 1, length: here.length };
  }
  return best.line;
}

function keysIn(text: string): string[] {
  return (text.match(/"[^"]*"|'[^']*'|[\w-]+/g) ?? []).map((key) =>
    key.replace(/^["']|["']$/g, ''),
  );
}
