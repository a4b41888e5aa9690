// Reads the YAML of front matter. All scalars stay the texts they are written as: `007` and `yes` are names
// as good as any. Programs that own these files are less strict than YAML, above all about `: ` in a
// description; so where the whole cannot be read, each key is read by itself, and plain text taken as it is.
import type { Document, ParsedNode } from 'yaml';
import { isObject } from '../../base/object.ts';
import { AgentFileError } from './draft.ts';
import type { FrontMatter } from './front-matter.ts';

export interface Head {
  readonly values: Readonly<Record<string, unknown>>;
  /** The line of the file on which a key stands. */
  readonly lineOf: (key: string) => number;
  /** Each as `3: …`, with the line. */
  readonly warnings: readonly string[];
}

/** Values repeated through aliases beyond this are a trap, not an agent. */
const MOST_ALIASES = 50;

/** Errors are not made pretty: that takes longer than reading does, and lines are those of the head. */
const OPTIONS = {
  schema: 'failsafe',
  uniqueKeys: false,
  logLevel: 'silent',
  prettyErrors: false,
} as const;

/** Throws an `AgentFileError` for a text that cannot be understood. */
export async function parseHead({ head, headLine }: FrontMatter): Promise<Head> {
  // Its default: bundled, a module of the older kind has no other exports.
  const { parseDocument } = (await import('yaml')).default;
  const read = (text: string): Read => {
    try {
      return valueOf(parseDocument(text, OPTIONS), text);
    } catch (error) {
      // It goes into what is nested, and says by throwing that aliases multiply or lead nowhere.
      if (error instanceof RangeError) return { line: 1, problem: 'it nests too deep' };
      if (error instanceof ReferenceError) return { line: 1, problem: error.message };
      throw error;
    }
  };
  const lines = head.split('\n');
  const keys = keysOf(lines);
  const whole = read(head);
  const all = 'value' in whole ? whole.value : readEach(lines, keys, headLine, read, whole);
  const isSaid = ([, value]: [string, unknown]) => value !== 'null' && value !== '~';
  return {
    values: Object.fromEntries(Object.entries(all).filter(isSaid)),
    lineOf: (key) => headLine + (keys.findLast((one) => one.key === key)?.at ?? 0),
    warnings: repeated(keys).map(
      ({ key, at }) => `${headLine + at}: "${key}" is there twice; the last one counts.`,
    ),
  };
}

type Values = Readonly<Record<string, unknown>>;
interface Problem {
  /** Of the text that was read, from one. */
  readonly line: number;
  readonly problem: string;
}
type Read = { readonly value: Values } | Problem;

function valueOf(document: Document<ParsedNode, boolean>, text: string): Read {
  const [error] = document.errors;
  if (error) {
    const isDeep = error.code === 'RESOURCE_EXHAUSTION';
    const problem = isDeep ? 'it nests too deep' : error.message;
    return { line: text.slice(0, error.pos[0]).split('\n').length, problem };
  }
  const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES });
  if (value === null || value === '') return { value: {} };
  return isObject(value) ? { value } : { line: 1, problem: 'keys with values were expected' };
}

interface Key {
  readonly key: string;
  /** What follows on the same line. */
  readonly rest: string;
  /** Its line in the head, from zero. */
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

/** Each key with what belongs to it, by itself. */
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

/** The two that people write sentences in. */
const SENTENCES = new Set(['name', 'description']);
/** What YAML gives a meaning to at the beginning of a value. */
const INDICATOR = /^[[\]{}&*!|>%@`"',]/;

/** What follows a key as one text; undefined where it was meant to be something else. */
function plainText({ key, rest }: Key, following: readonly string[]): string | undefined {
  const isIndented = following.every((line) => line.trim() === '' || /^\s/.test(line));
  const isText = rest !== '' && (SENTENCES.has(key) || !INDICATOR.test(rest));
  if (!isIndented || !isText) return undefined;
  const text = [rest, ...following.map((line) => line.trim())].join(' ').trim();
  return text.replace(/^(["'])(.*)\1$/s, '$2');
}
