// Where the configuration files are, and what is in them, before anyone has looked whether it makes
// sense. JSON is read with comments, trailing commas and a byte order mark, as editors leave them.
import { existsSync, type Stats, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ParseError } from 'jsonc-parser';
import { SwitchboardError } from '../../base/errors.ts';
import { readTextFile } from '../../base/read-text.ts';
import { lineAndColumn } from './position.ts';

// JSON comes first: a JavaScript file runs code of the project, so it is taken only for want of one.
const NAMES = ['json', 'jsonc', 'js', 'cjs', 'mjs'].map((end) => `switchboard.config.${end}`);

/** A file as read: its value, and its text where that is JSON and errors can be found in it. */
export interface Source {
  readonly file: string;
  readonly value: unknown;
  readonly text: string | undefined;
}

export function findConfigFile(folder: string): string | undefined {
  return NAMES.map((name) => join(folder, name)).find((file) => existsSync(file));
}

/** Whether a file is run to get the configuration. */
export function isScript(file: string): boolean {
  return ['.js', '.cjs', '.mjs'].includes(extname(file));
}

export async function readConfigFile(file: string): Promise<Source> {
  if (isScript(file)) {
    return { file, value: await runScript(file), text: undefined };
  }
  return readJsonFile(file);
}

export async function readJsonFile(file: string): Promise<Source> {
  const text = readText(file);
  return { file, value: await readJsonText(file, text), text };
}

/** The value of a file's text. Throws a sentence about where and why it is not JSON. */
export async function readJsonText(file: string, text: string): Promise<unknown> {
  const parsed = await parseJson(text);
  if ('value' in parsed) return parsed.value;
  throw new SwitchboardError('CONFIG_INVALID', `${file}:${parsed.problem}`, {
    hint: 'The file must be JSON; comments and trailing commas are allowed.',
  });
}

type ParsedJson = { readonly value: unknown } | { readonly problem: string };

/** The value, or where and why the text is not JSON, as `3:5: …`. */
export async function parseJson(text: string): Promise<ParsedJson> {
  try {
    const parsed = parsePlainly(text) ?? (await parsePatiently(text));
    return 'value' in parsed && isDeep(parsed.value) ? TOO_DEEP : parsed;
  } catch (error) {
    if (error instanceof RangeError) return TOO_DEEP;
    throw error;
  }
}

/** JSON that nests without end overflows the stack of whoever goes into it. */
const TOO_DEEP: ParsedJson = { problem: '1:1: Not used: it nests too deep.' };
const DEEPEST = 200;

function isDeep(value: unknown, left = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((member) => isDeep(member, left - 1));
}

function parsePlainly(text: string): ParsedJson | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined; // perhaps it has comments
  }
}

/** Most files are plain JSON; only the others pay for loading this parser. */
async function parsePatiently(text: string): Promise<ParsedJson> {
  const { getNodeValue, parseTree, printParseErrorCode } = await import('jsonc-parser');
  const errors: ParseError[] = [];
  // Not its parse(): that would take a key `__proto__` for the object's prototype.
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (tree && !first) return { value: getNodeValue(tree) as unknown };
  if (text.includes('\0')) return IN_UTF_16;
  const reason = first && REASONS.get(printParseErrorCode(first.error));
  return {
    problem: `${lineAndColumn(text, first?.offset ?? 0)}: Not valid JSON: ${reason ?? 'a value was expected'}.`,
  };
}

/** What the shell of Windows writes into a file, and every letter of it looks wrong. */
const IN_UTF_16: ParsedJson = { problem: '1:1: Not read: it is in UTF-16. Save it as UTF-8.' };

const REASONS = new Map([
  ['InvalidSymbol', 'this is not a value; texts and keys need double quotes'],
  ['InvalidNumberFormat', 'this is not a number'],
  ['PropertyNameExpected', 'a key in double quotes was expected'],
  ['ValueExpected', 'a value was expected'],
  ['ColonExpected', 'a colon was expected'],
  ['CommaExpected', 'a comma was expected'],
  ['CloseBraceExpected', 'a closing } was expected'],
  ['CloseBracketExpected', 'a closing ] was expected'],
  ['EndOfFileExpected', 'the file was expected to end here'],
  ['UnexpectedEndOfComment', 'a comment does not end'],
  ['UnexpectedEndOfString', 'a text does not end'],
  ['UnexpectedEndOfNumber', 'this is not a number'],
  ['InvalidUnicode', 'this \\u escape is not complete'],
  ['InvalidEscapeCharacter', 'this \\ escape does not exist; write \\\\ for a backslash'],
  ['InvalidCharacter', 'this character must be written as an escape'],
]);

function readText(file: string): string {
  const read = readTextFile(file, MOST_CONFIG_BYTES);
  if ('text' in read) return withoutByteOrderMark(read.text);
  throw new SwitchboardError('CONFIG_INVALID', `${file}: ${read.problem}`, {
    hint: 'Put a file there that can be read, or remove what is there.',
  });
}

/** More than anybody configures, and still read in a moment. */
export const MOST_CONFIG_BYTES = 16 << 20;

export function withoutByteOrderMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** What a JavaScript file exports: an object, or a function or promise that gives one. */
async function runScript(file: string): Promise<unknown> {
  try {
    // A reload must see the file as it is now, and Node keeps modules: by address, and those of
    // the older kind by path as well.
    const path = resolve(file);
    const { mtimeMs } = fileAt(path);
    const { cache } = createRequire(path);
    delete cache[path];
    const address = `${pathToFileURL(path).href}?changed=${mtimeMs}`;
    const exported = exportOf(await import(address));
    return await (isFunction(exported) ? exported() : exported);
  } catch (cause) {
    throw new SwitchboardError('CONFIG_INVALID', `${file} failed: ${messageOf(cause)}.`, {
      hint: 'The file must run and export an object as default or as module.exports.',
      cause,
    });
  }
}

/** Node would wait for ever for what a pipe has to say. */
function fileAt(path: string): Stats {
  const stats = statSync(path);
  if (!stats.isFile()) throw new Error('it is not a file');
  return stats;
}

function exportOf(module: object): unknown {
  if (Object.keys(module).length === 0) return undefined;
  const value: unknown = 'default' in module ? module.default : { ...module };
  const isTranspiled = typeof value === 'object' && value !== null && '__esModule' in value;
  return isTranspiled && 'default' in value ? value.default : value;
}

function isFunction(value: unknown): value is () => unknown {
  return typeof value === 'function';
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}
