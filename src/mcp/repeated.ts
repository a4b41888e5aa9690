// HTTP headers that repeat parts of a modern request's body for proxies. We send them to servers and
// check them in hosts' requests.
import { isObject } from '../base/object.ts';

/** The parameter that `Mcp-Name` repeats, by method. Other methods have no such header. */
export const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** Valid header names. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** A string that a header can carry unchanged: visible, with spaces only inside. */
const PLAIN = /^[!-~](?:[\t -~]*[!-~])?$/;
const ENCODED = /^=\?base64\?(.*)\?=$/;

/** Deeper than any real schema. */
const MAX_DEPTH = 64;

/** An argument that its tool wants repeated in a header. */
export interface RepeatedArgument {
  readonly header: string;
  /** The header's value, before it is encoded. */
  readonly text: string;
  readonly value: unknown;
  /** According to the schema. */
  readonly isNumber: boolean;
}

/** Follows nested properties only. Null and missing arguments have no header. */
export function findRepeatedArguments(
  schema: unknown,
  args: unknown,
  depth = 0,
): RepeatedArgument[] {
  const properties = isObject(schema) ? schema['properties'] : undefined;
  if (!isObject(properties) || !isObject(args) || depth > MAX_DEPTH) return [];
  const found: RepeatedArgument[] = [];
  for (const [key, property] of Object.entries(properties)) {
    if (!isObject(property) || !Object.hasOwn(args, key)) continue;
    const value = args[key];
    const header = headerOf(property);
    const text = textOf(value);
    const isNumber = property['type'] === 'integer' || property['type'] === 'number';
    if (header !== undefined && text !== undefined) found.push({ header, text, value, isNumber });
    found.push(...findRepeatedArguments(property, value, depth + 1));
  }
  return found;
}

/** The header in which a schema property wants its argument repeated (`x-mcp-header`). */
function headerOf(property: Readonly<Record<string, unknown>>): string | undefined {
  const name = property['x-mcp-header'];
  return typeof name === 'string' && TOKEN.test(name) ? `Mcp-Param-${name}` : undefined;
}

/** Undefined for numbers that JavaScript can't represent exactly: servers don't compare those. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
}

/** Encodes the string if it would not arrive unchanged. */
export function encodeHeaderValue(text: string): string {
  if (PLAIN.test(text) && !ENCODED.test(text)) return text;
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** Undefined if its encoding is invalid. */
export function decodeHeaderValue(value: string): string | undefined {
  const encoded = ENCODED.exec(value)?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) return undefined; // Buffer skips invalid characters
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
