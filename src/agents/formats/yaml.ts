// Parses the YAML of front matter. All scalars stay strings: `007` and `yes` are valid names. The programs
// that own these files are less strict than YAML, above all about `: ` in a description. So if the whole
// can't be parsed, each key is parsed by itself, and plain text is used as written.
import type { Document, ParsedNode } from 'yaml';
import { isObject } from '../../base/object.ts';
import { AgentFileError } from './draft.ts';
import type { FrontMatter } from './front-matter.ts';

export interface Head {
  readonly values: Readonly<Record<string, unknown>>;
  /** The key's line in the file. */
  readonly lineOf: (key: string) => number;
  /** Each as `3: …`, with the line. */
  readonly warnings: readonly string[];
}

/** More aliases than this are an attack, not an agent. */
const MOST_ALIASES = 50;

/** No pretty errors: they take longer than parsing, and count lines from the head. */
const OPTIONS = {
  schema: 'failsafe',
  uniqueKeys: false,
  logLevel: 'silent',
  prettyErrors: false,
} as const;

/** Throws an `AgentFileError` if it can't be parsed. */
export async function parseHead({ head, headLine }: FrontMatter): Promise<Head> {
  // The default export: once bundled, a CommonJS module has no others.
  const { parseDocument } = (await import('yaml')).default;
  const read = (text: string): Read => {
    try {
      return valueOf(parseDocument(text, OPTIONS), text);
    } catch (error) {
      // The parser throws this for deep nesting, and for aliases that multiply or don't resolve.
      if (error instanceof RangeError) return { line: 1, problem: 'nested too deeply' };
      if (error instanceof ReferenceError) return { line: 1, problem: error.message };
      throw error;
    }
  };
  const lines = head.split('\n');
  const keys = keysOf(lines);
  const whole = read(head);
  const all = 'value' in whole ? whole.value : readEach(lines, keys, headLine, read, whole);
  const isSet = ([, value]: [string, unknown]) => value !== 'null' && value !== '~';
  return {
    values: Object.fromEntries(Object.entries(all).filter(isSet)),
    lineOf: (key) => headLine + (keys.findLast((one) => one.key === key)?.at ?? 0),
    warnings: repeated(keys).map(
      ({ key, at }) => `${headLine + at}: Duplicate key "${key}"; the last one is used.`,
    ),
  };
}

type Values = Readonly<Record<string, unknown>>;
interface Problem {
  /** One-based, within the parsed string. */
  readonly line: number;
  readonly problem: string;
}
type Read = { readonly value: Values } | Problem;

function valueOf(document: Document<ParsedNode, boolean>, text: string): Read {
  const [error] = document.errors;
  if (error) {
    const isDeep = error.code === 'RESOURCE_EXHAUSTION';
    const problem = isDeep ? 'nested too deeply' : error.message;
    return { line: text.slice(0, error.pos[0]).split('\n').length, problem };
  }
  const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES });
  if (value === null || value === '') return { value: {} };
  return isObject(value) ? { value } : { line: 1, problem: 'expected keys with values' };
}

interface Key {
  readonly key: string;
  /** The rest of the line. */
  readonly rest: string;
  /** Its zero-based line in the head. */
  readonly at: number;
}

function keysOf(lines: readonly string[]): Key[] {
  return lines.flatMap((line, at) => {
    const colon = line.search(/:(?:\s|$)/);
    if (colon < 1 || !/^[\w"'$]/.test(line)) return [];
    const key = line
      .slice(0, colon)
      .trimEnd()
      .replace(/^(["'])(.*)\1$/s, '$2');
    return [{ key, rest: line.slice(colon + 1).trim(), at }];
  });
}

function repeated(keys: readonly Key[]): Key[] {
  const seen = new Set<string>();
  return keys.filter(({ key }) => seen.size === seen.add(key).size);
}

/** Parses each key by itself. */
function readEach(
  lines: readonly string[],
  keys: readonly Key[],
  headLine: number,
  read: (text: string) => Read,
  whole: Problem,
): Values {
  const invalid = ({ line, problem }: Problem, before = 0) =>
    new AgentFileError(headLine + before + line - 1, `Not valid YAML: ${problem}.`);
  const first = keys[0]?.at ?? lines.length;
  const isBlank = (line: string) => /^\s*(#.*)?$/.test(line);
  if (!lines.slice(0, first).every(isBlank)) throw invalid(whole);
  const entries = keys.map((key, index): [string, unknown] => {
    const part = lines.slice(key.at, keys[index + 1]?.at);
    const result = read(part.join('\n'));
    if ('value' in result) return [key.key, Object.values(result.value)[0]];
    const text = plainText(key, part.slice(1));
    if (text === undefined) throw invalid(result, key.at);
    return [key.key, text];
  });
  return Object.fromEntries(entries);
}

/** The keys that hold sentences. */
const SENTENCES = new Set(['name', 'description']);
/** Characters that have a special meaning at the start of a YAML value. */
const INDICATOR = /^[[\]{}&*!|>%@`"',]/;

/** A key's value as plain text; undefined if it was meant to be something else. */
function plainText({ key, rest }: Key, following: readonly string[]): string | undefined {
  const isIndented = following.every((line) => line.trim() === '' || /^\s/.test(line));
  const isText = rest !== '' && (SENTENCES.has(key) || !INDICATOR.test(rest));
  if (!isIndented || !isText) return undefined;
  const text = [rest, ...following.map((line) => line.trim())].join(' ').trim();
  return text.replace(/^(["'])(.*)\1$/s, '$2');
}
