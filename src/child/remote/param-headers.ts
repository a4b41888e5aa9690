// Repeats arguments in headers if the tool's schema asks for it (`x-mcp-header`), so that proxies can
// route calls without reading bodies.
import { isObject } from '../../base/object.ts';
import { headerOf } from '../../mcp/repeated.ts';

/** The input schema of a tool, if known. */
export type InputSchemaOf = (tool: string) => unknown;

/** A string that a header can carry unchanged: visible, with spaces only inside. */
const PLAIN = /^[!-~](?:[\t -~]*[!-~])?$/;
const ENCODED = /^=\?base64\?.*\?=$/;

/** Deeper than any real schema. */
const MAX_DEPTH = 64;

/** Follows nested properties only. Null and missing arguments have no header. */
export function paramHeaders(schema: unknown, args: unknown, depth = 0): Record<string, string> {
  const properties = isObject(schema) ? schema['properties'] : undefined;
  if (!isObject(properties) || !isObject(args) || depth > MAX_DEPTH) return {};
  const headers: Record<string, string> = {};
  for (const [key, property] of Object.entries(properties)) {
    if (!isObject(property) || !Object.hasOwn(args, key)) continue;
    const header = headerOf(property);
    const text = textOf(args[key]);
    if (header !== undefined && text !== undefined) {
      headers[header.toLowerCase()] = headerValue(text);
    }
    Object.assign(headers, paramHeaders(property, args[key], depth + 1));
  }
  return headers;
}

/** Encodes the string if it would not arrive unchanged. */
export function headerValue(text: string): string {
  if (PLAIN.test(text) && !ENCODED.test(text)) return text;
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** Undefined for numbers that JavaScript can't represent exactly: servers don't compare those. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
}
