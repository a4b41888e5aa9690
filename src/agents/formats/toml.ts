// Reads TOML, and finds the lines of its keys for messages: the parser tells them only of what it cannot read.
import { isObject } from '../../base/object.ts';
import { parseToml } from '../../config/files/toml.ts';
import { AgentFileError } from './draft.ts';

export interface Toml {
  readonly table: Readonly<Record<string, unknown>>;
  /** The line of a key, or of the first that is said below it, or of the nearest table around it. */
  readonly lineOf: (...path: string[]) => number;
}

/** Throws an `AgentFileError` for a text that is not TOML. */
export async function readToml(text: string): Promise<Toml> {
  const parsed = await parseToml(text);
  if ('problem' in parsed) throw new AgentFileError(parsed.line, parsed.problem);
  return { ...parsed, lineOf: (...path) => findLine(text, path) };
}

export function isTable(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !(value instanceof Date);
}

/**
 * A look at each line is enough for a message: tables and keys stand at the beginning of one. What stands
 * in a text over several lines is passed over.
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
