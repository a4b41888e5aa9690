// Parses a tool's arguments from the command line: one JSON object, or `key=value` words typed by the tool's
// schema and `key:=json` words. Number literals are passed through as typed.
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import { didYouMean, excerpt } from '../../base/text.ts';
import type { Member, Type } from '../../mcp/schema-type.ts';
import { formatType } from '../../mcp/signature.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import { isArgument } from './target.ts';

export type CallArguments =
  | { readonly kind: 'json'; readonly args: Verbatim }
  | { readonly kind: 'pairs'; readonly pairs: readonly Pair[] };

export interface Pair {
  readonly key: string;
  readonly value: string;
  /** It was written `key:=value`. */
  readonly isJson: boolean;
}

const EXAMPLE = 'For example: switchboard call memory.search_nodes query=tea';

/** Throws on anything no tool could take. `-` reads JSON from `readPiped`. */
export function parseArguments(words: readonly string[], readPiped: () => string): CallArguments {
  const [only = '{}', ...more] = words;
  if (more.length > 0 || isPair(only)) return { kind: 'pairs', pairs: words.map(parsePair) };
  return { kind: 'json', args: parseJson(only === '-' ? readPiped() : only) };
}

function parseJson(text: string): Verbatim {
  const parsed = tryJson(text);
  if ('problem' in parsed) {
    throw usage(`The arguments are not valid JSON: ${parsed.problem}.`, EXAMPLE);
  }
  if (isObject(parsed.value)) return new Verbatim(text, parsed.value);
  throw usage('The arguments must be a JSON object.', `For example: '{"query": "tea"}'`);
}

function isPair(word: string): boolean {
  return word !== '-' && isArgument(word) && !/^[{["]/.test(word);
}

function parsePair(word: string): Pair {
  const [, key, colon, value] = /^([^=]+?)(:?)=(.*)$/su.exec(word) ?? [];
  if (isPair(word) && key !== undefined && value !== undefined) {
    return { key, value, isJson: colon === ':' };
  }
  throw usage(`"${excerpt(word, 60)}" is not key=value or key:=json.`, EXAMPLE);
}

/** Converts pairs to what the tool expects; throws if they don't fit its parameters. */
export function typeArguments(pairs: readonly Pair[], type: Type): Verbatim {
  const members = membersOf(type);
  const keys = new Set(pairs.map(({ key }) => key));
  const texts = Array.from(keys, (key) => {
    const given = pairs.filter((pair) => pair.key === key);
    const member = members?.get(key);
    if (members && !member) throw wrong(unknownParameter(key, members));
    return `${JSON.stringify(key)}:${typeValues(key, given, member?.type ?? { kind: 'any' })}`;
  });
  return Verbatim.fromText(`{${texts.join(',')}}`);
}

/** A repeated key makes a list. */
function typeValues(key: string, pairs: readonly Pair[], type: Type): string {
  const [first, second] = pairs;
  if (!first) throw new Error(`Missing value for ${key}.`);
  if (!second) return first.isJson ? jsonOf(first) : typeValue(key, first.value, type);
  const list = alternativesOf(type).find((one) => one.kind === 'array');
  if (!list) throw wrong(`Duplicate argument: "${key}".`);
  const items = pairs.map((pair) =>
    pair.isJson ? jsonOf(pair) : typeValue(key, pair.value, list.items),
  );
  return `[${items.join(',')}]`;
}

function jsonOf({ key, value }: Pair): string {
  const parsed = tryJson(value);
  if ('problem' in parsed) throw wrong(`"${key}" is not valid JSON: ${parsed.problem}.`);
  return value;
}

/** The value as JSON. A string is the last resort: `5` is a number if the schema allows one. */
function typeValue(key: string, value: string, type: Type): string {
  const alternatives = alternativesOf(type);
  const json = tryJson(value);
  const parsed = 'problem' in json ? undefined : json.value;
  const literal = alternatives
    .flatMap((one) => (one.kind === 'literals' ? one.values : []))
    .find((one) => one === value || JSON.stringify(one) === value);
  if (literal !== undefined) return JSON.stringify(literal);
  if (parsed !== undefined && typeof parsed !== 'string') {
    if (alternatives.some((one) => one.kind !== 'literals' && fits(parsed, one))) return value;
  }
  const isAnything = alternatives.some(({ kind }) => kind === 'any' || kind === 'cut');
  if (isAnything || alternatives.some((one) => one.kind === 'plain' && one.name === 'string')) {
    return JSON.stringify(value);
  }
  const list = alternatives.find((one) => one.kind === 'array');
  if (list && !value.startsWith('[')) return `[${typeValue(key, value, list.items)}]`;
  throw wrong(`${expected(key, type)}, got "${excerpt(value, 60)}".`);
}

/** One sentence for each argument that is missing, unknown or of the wrong type. */
export function findMistakes(args: Readonly<Record<string, unknown>>, type: Type): string[] {
  const members = membersOf(type);
  if (!members) return [];
  const required = type.kind === 'object' ? type.members.filter((one) => one.isRequired) : [];
  const missing = required.filter(({ name }) => !Object.hasOwn(args, name));
  return [
    ...missing.map(({ name }) => `Missing argument: ${name}.`),
    ...Object.entries(args).flatMap(([key, value]) => {
      const member = members.get(key);
      if (!member) return [unknownParameter(key, members)];
      const isRight = alternativesOf(member.type).some((one) => fits(value, one));
      return isRight ? [] : [`${expected(key, member.type)}.`];
    }),
  ];
}

function expected(key: string, type: Type): string {
  return `Invalid value for "${excerpt(key, 60)}": expected ${formatType(type)}`;
}

function unknownParameter(key: string, members: ReadonlyMap<string, Member>): string {
  const name = excerpt(key, 60);
  return `Unknown parameter: "${name}". ${didYouMean(key, members.keys())}`.trimEnd();
}

/** Parameters by name; undefined if the tool accepts any name. */
function membersOf(type: Type): ReadonlyMap<string, Member> | undefined {
  if (type.kind === 'union' || type.kind === 'all') {
    const all = type.of.map(membersOf);
    const known = all.flatMap((members) => (members ? [...members] : []));
    return all.includes(undefined) ? undefined : new Map(known);
  }
  if (type.kind !== 'object' || type.others || type.members.length === 0) return undefined;
  return new Map(type.members.map((member) => [member.name, member]));
}

function alternativesOf(type: Type): readonly Type[] {
  return type.kind === 'union' ? type.of : [type];
}

/** A shallow check: the server validates the contents of objects and arrays. */
function fits(value: unknown, type: Type): boolean {
  switch (type.kind) {
    case 'any':
    case 'cut':
      return true;
    case 'never':
      return false;
    case 'plain':
      if (type.name === 'null') return value === null;
      if (type.name === 'integer') return Number.isInteger(value);
      return typeof value === type.name;
    case 'literals':
      return type.values.some((one) => JSON.stringify(one) === JSON.stringify(value));
    case 'array':
    case 'tuple':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'union':
      return type.of.some((one) => fits(value, one));
    case 'all':
      return type.of.every((one) => fits(value, one));
  }
}

function tryJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function usage(message: string, hint: string): SwitchboardError {
  return new SwitchboardError('USAGE', message, { hint });
}

function wrong(message: string): SwitchboardError {
  return new SwitchboardError('TOOL_ARGUMENTS', message);
}
