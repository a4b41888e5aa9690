// Arguments that a tool's schema wants to see in headers as well (`x-mcp-header`), so that those on
// the way can sort calls by them without reading bodies.
import { isObject } from '../../base/object.ts';
import { headerOf } from '../../mcp/repeated.ts';

/** The input schema of a tool, where it is known. */
export type InputSchemaOf = (tool: string) => unknown;

/** Text that a header carries as it is: visible, with blanks only inside. */
const PLAIN = /^[!-~](?:[\t -~]*[!-~])?$/;
const ENCODED = /^=\?base64\?.*\?=$/;

/** Deeper than anybody describes arguments. */
const DEEPEST = 64;

/** Only properties of properties count; what is null or missing has no header. */
export function paramHeaders(schema: unknown, args: unknown, depth = 0): Record<string, string> {
  const properties = isObject(schema) ? schema['properties'] : undefined;
  if (!isObject(properties) || !isObject(args) || depth > DEEPEST) return {};
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

/** A text as the value of a header; encoded where it would not arrive as it is. */
export function headerValue(text: string): string {
  if (PLAIN.test(text) && !ENCODED.test(text)) return text;
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** Numbers beyond what JavaScript keeps exactly have none: servers do not compare those. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
}
