// Headers that repeat parts of a modern request's body, so that proxies can route without reading it. Both must agree:
// otherwise a proxy could let something through that it didn't mean to.
import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../../base/object.ts';
import { HEADER_MISMATCH } from '../../mcp/eras.ts';
import { headerOf, NAMED_BY } from '../../mcp/repeated.ts';
import type { ToolSchema } from './exchange.ts';
import type { Incoming } from './incoming.ts';
import { badRequest, type HttpRefusal } from './refusal.ts';

export function checkMirroredHeaders(
  { id, kind, method, value }: Incoming,
  headers: IncomingHttpHeaders,
  toolSchema: ToolSchema,
): HttpRefusal | undefined {
  const mismatch = (reason: string) => badRequest(reason, { id, code: HEADER_MISMATCH });
  const said = headers['mcp-method'];
  if (said === undefined && kind === 'request') return mismatch(missing('Mcp-Method'));
  if (said !== undefined && said !== method) return mismatch(differs('Mcp-Method'));
  const namedBy = NAMED_BY.get(method);
  if (kind !== 'request' || namedBy === undefined) return undefined;

  const params = isObject(value['params']) ? value['params'] : {};
  const name = params[namedBy];
  if (typeof name !== 'string') return undefined; // invalid anyway, and answered as such
  const saidName = textOf(headers['mcp-name']);
  if (saidName === undefined) return mismatch(missing('Mcp-Name'));
  if (decodeValue(saidName) !== name) return mismatch(differs('Mcp-Name'));
  if (method !== 'tools/call') return undefined;

  const wrong = findWrongParameter(toolSchema(name), params['arguments'], headers);
  return wrong === undefined ? undefined : mismatch(wrong);
}

/** A header's decoded value; undefined if its encoding is invalid. */
function decodeValue(value: string): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) return undefined; // Buffer skips invalid characters
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

interface Repeated {
  readonly header: string;
  readonly path: readonly string[];
  readonly isNumber: boolean;
}

/** Checks the arguments a tool wants repeated in `Mcp-Param-…` headers. */
function findWrongParameter(
  schema: unknown,
  args: unknown,
  headers: IncomingHttpHeaders,
): string | undefined {
  for (const { header, path, isNumber } of findRepeated(schema, [])) {
    const argument = path.reduce<unknown>(
      (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
      args,
    );
    const expected = textOfArgument(argument);
    if (expected === undefined) continue;
    const said = textOf(headers[header.toLowerCase()]);
    if (said === undefined) return missing(header);
    const decoded = decodeValue(said);
    const isSame = decoded === expected || (isNumber && isSameNumber(decoded, argument));
    if (!isSame) return differs(header);
  }
  return undefined;
}

/** Deeper than any schema people write. */
const DEEPEST = 32;

function findRepeated(schema: unknown, path: readonly string[]): Repeated[] {
  const found: Repeated[] = [];
  if (!isObject(schema) || !isObject(schema['properties']) || path.length > DEEPEST) return found;
  for (const [key, property] of Object.entries(schema['properties'])) {
    const below = [...path, key];
    if (!isObject(property)) continue;
    const { type } = property;
    const header = headerOf(property);
    const isNumber = type === 'integer' || type === 'number';
    if (header !== undefined) found.push({ header, path: below, isNumber });
    found.push(...findRepeated(property, below));
  }
  return found;
}

/** An argument as written in a header; undefined if it isn't repeated. */
function textOfArgument(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  // A number beyond 2^53 may have lost digits when it was parsed.
  const isExact = typeof value === 'number' && (Number.isSafeInteger(value) || value % 1 !== 0);
  return isExact ? String(value) : undefined;
}

/** `42.0` and `42` are the same number. */
function isSameNumber(text: string | undefined, value: unknown): boolean {
  return text !== undefined && /^-?\d+(\.\d+)?$/.test(text) && Number(text) === value;
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

function missing(header: string): string {
  return `Missing header: ${header}.`;
}

function differs(header: string): string {
  return `The header ${header} and the body differ.`;
}
