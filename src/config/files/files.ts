// Finds and reads configuration files, without validating their content. JSON may have comments, trailing commas and
// a byte order mark.
import { existsSync, type Stats, statSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileFunction, constants } from 'node:vm';
import type { ParseError } from 'jsonc-parser';
import { SwitchboardError } from '../../base/errors.ts';
import { type ReadText, readTextFile } from '../../base/read-text.ts';
import { lineAndColumn } from './position.ts';

// JSON comes first: a JavaScript file runs the project's code, so it's used only if there's no JSON file.
export const CONFIG_NAMES = ['json', 'jsonc', 'js', 'cjs', 'mjs'].map(
  (end) => `switchboard.config.${end}`,
);

/** A parsed file. `text` is undefined for JavaScript files. */
export interface Source {
  readonly file: string;
  readonly value: unknown;
  readonly text: string | undefined;
}

export function findConfigFile(folder: string): string | undefined {
  return CONFIG_NAMES.map((name) => join(folder, name)).find((file) => existsSync(file));
}

/** Whether the file is JavaScript, which has to be run. */
export function isScript(file: string): boolean {
  return ['.js', '.cjs', '.mjs'].includes(extname(file));
}

/** A configuration script: the file as it is, or the text that was judged. */
export type ConfigScript =
  | { readonly file: string; readonly text: undefined; readonly origin: undefined }
  | { readonly file: string; readonly text: string; readonly origin: 'yours' | 'foreign' };

/** Returns what the script exports. */
export type RunScript = (script: ConfigScript) => Promise<unknown>;

/** Runs a script in this process. */
export const runHere: RunScript = async ({ file, text, origin }) => {
  if (text === undefined) return runScript(file);
  const run = origin === 'yours' ? runOwnScript : runApprovedScript;
  return (await run(file, text)).value;
};

export async function readConfigFile(file: string, run: RunScript = runHere): Promise<Source> {
  if (!isScript(file)) return readJsonFile(file);
  return { file, value: await run({ file, text: undefined, origin: undefined }), text: undefined };
}

async function readJsonFile(file: string): Promise<Source> {
  return parseSource(file, readTextFile(file, MAX_CONFIG_BYTES));
}

/** Throws if it can't be read or isn't JSON. */
export async function parseSource(file: string, read: ReadText): Promise<Source> {
  if ('problem' in read) {
    throw new SwitchboardError('CONFIG_INVALID', `${file}: ${read.problem}`, {
      hint: 'Make the file readable, or remove it.',
    });
  }
  const text = withoutByteOrderMark(read.text);
  return { file, value: await readJsonText(file, text), text };
}

export async function readJsonText(file: string, text: string): Promise<unknown> {
  const parsed = await parseJsonc(text);
  if ('value' in parsed) return parsed.value;
  throw new SwitchboardError('CONFIG_INVALID', `${file}:${parsed.problem}`, {
    hint: 'The file must be JSON. Comments and trailing commas are allowed.',
  });
}

type ParsedJson = { readonly value: unknown } | { readonly problem: string };

/** The value, or where and why it isn't JSON, as `3:5: …`. */
export async function parseJsonc(text: string): Promise<ParsedJson> {
  try {
    const parsed = parsePlain(text) ?? (await parseWithComments(text));
    return 'value' in parsed && isDeep(parsed.value) ? TOO_DEEP : parsed;
  } catch (error) {
    if (error instanceof RangeError) return TOO_DEEP;
    throw error;
  }
}

/** Walking deeply nested JSON would overflow the stack. */
const TOO_DEEP: ParsedJson = { problem: '1:1: Too deeply nested.' };
const MAX_DEPTH = 200;

function isDeep(value: unknown, left = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((member) => isDeep(member, left - 1));
}

function parsePlain(text: string): ParsedJson | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined; // it may have comments
  }
}

/** Most files are plain JSON, so this parser is loaded only if needed. */
async function parseWithComments(text: string): Promise<ParsedJson> {
  const { getNodeValue, parseTree, printParseErrorCode } = await import('jsonc-parser');
  const errors: ParseError[] = [];
  // Not parse(): it would treat a key `__proto__` as the object's prototype.
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (tree && !first) return { value: getNodeValue(tree) as unknown };
  if (text.includes('\0')) return UTF_16;
  const reason = first && REASONS.get(printParseErrorCode(first.error));
  return {
    problem: `${lineAndColumn(text, first?.offset ?? 0)}: Invalid JSON: ${reason ?? 'expected a value'}.`,
  };
}

/** PowerShell writes UTF-16 by default. */
const UTF_16: ParsedJson = { problem: '1:1: The file is UTF-16. Save it as UTF-8.' };

const REASONS = new Map([
  ['InvalidSymbol', 'invalid value; strings and keys need double quotes'],
  ['InvalidNumberFormat', 'invalid number'],
  ['PropertyNameExpected', 'expected a key in double quotes'],
  ['ValueExpected', 'expected a value'],
  ['ColonExpected', 'expected a colon'],
  ['CommaExpected', 'expected a comma'],
  ['CloseBraceExpected', 'expected }'],
  ['CloseBracketExpected', 'expected ]'],
  ['EndOfFileExpected', 'expected the end of the file'],
  ['UnexpectedEndOfComment', 'unterminated comment'],
  ['UnexpectedEndOfString', 'unterminated string'],
  ['UnexpectedEndOfNumber', 'invalid number'],
  ['InvalidUnicode', 'incomplete \\u escape'],
  ['InvalidEscapeCharacter', 'invalid escape; write \\\\ for a backslash'],
  ['InvalidCharacter', 'this character must be escaped'],
]);

export const MAX_CONFIG_BYTES = 16 << 20;

export function withoutByteOrderMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Returns the exported object, or what the exported function or promise resolves to. */
function runScript(file: string): Promise<unknown> {
  return resolveExport(file, () => importFile(resolve(file)));
}

/** A reload must see the current file, but Node caches ES modules by URL and CommonJS modules by path. */
function importFile(path: string): Promise<object> {
  const { mtimeMs } = fileAt(path);
  const { cache } = nodeModule().createRequire(path);
  delete cache[path];
  return import(`${pathToFileURL(path).href}?changed=${mtimeMs}`) as Promise<object>;
}

/**
 * Runs exactly this text, which the user approved, even if the file has changed since. Other files of the project
 * aren't approved, so it can only import what Node provides.
 */
async function runApprovedScript(file: string, text: string): Promise<Source> {
  const value = await resolveExport(file, () =>
    isCommonJs(file, text)
      ? Promise.resolve({ default: runCommonJs(file, text) })
      : importText(text),
  );
  return { file, value, text: undefined };
}

/**
 * Runs a script of the user's as it was judged, even if the file has been replaced since. It can load any other
 * file. An ES module that does so has to be imported from its place.
 */
export async function runOwnScript(file: string, text: string): Promise<Source> {
  const path = resolve(file);
  const value = await resolveExport(file, () => {
    if (isCommonJs(file, text)) return Promise.resolve({ default: runOwnCommonJs(path, text) });
    return LOADS_FILES.test(text) ? importFile(path) : importText(text);
  });
  return { file, value, text: undefined };
}

/** Imports of anything but Node's own modules, as far as can be told from the text. */
const LOADS_FILES = /\bfrom\s*['"](?!node:)|\bimport\s*(?:['"](?!node:)|\()|\bimport\.meta\b/;

function importText(text: string): Promise<object> {
  return import(`data:text/javascript,${encodeURIComponent(text)}`) as Promise<object>;
}

/** Lazy: few configurations have scripts. */
function nodeModule() {
  return process.getBuiltinModule('node:module');
}

function isCommonJs(file: string, text: string): boolean {
  if (extname(file) !== '.js') return extname(file) === '.cjs';
  return !/^\s*(?:import\b(?!\s*\()|export\b)/m.test(text);
}

function runOwnCommonJs(path: string, text: string): unknown {
  const module: { exports: unknown } = { exports: {} };
  const names = ['module', 'exports', 'require', '__filename', '__dirname'];
  const body = text.replace(/^\uFEFF?#!.*/, '');
  const run = compileFunction(body, names, {
    filename: path,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  }) as (...given: unknown[]) => void;
  const { createRequire } = nodeModule();
  run.call(module.exports, module, module.exports, createRequire(path), path, dirname(path));
  return module.exports;
}

function runCommonJs(file: string, text: string): unknown {
  const module: { exports: unknown } = { exports: {} };
  const { createRequire, isBuiltin } = nodeModule();
  const requireBuiltin = (name: string): unknown => {
    if (isBuiltin(name)) return createRequire(file)(name);
    throw new Error(`it can't load ${name}, because only this file is approved`);
  };
  const run = compileFunction(text, ['module', 'exports', 'require'], { filename: file });
  (run as (...given: unknown[]) => void)(module, module.exports, requireBuiltin);
  return module.exports;
}

async function resolveExport(file: string, load: () => Promise<object>): Promise<unknown> {
  try {
    const exported = exportOf(await load());
    return await (isFunction(exported) ? exported() : exported);
  } catch (cause) {
    throw new SwitchboardError('CONFIG_INVALID', `${file} failed: ${messageOf(cause)}.`, {
      hint: 'It must export an object as default or module.exports.',
      cause,
    });
  }
}

/** Importing a pipe would hang. */
function fileAt(path: string): Stats {
  const stats = statSync(path);
  if (!stats.isFile()) throw new Error('not a regular file');
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
