// Headers that repeat parts of a modern request's body, so that proxies can route without reading it. Both must agree:
// otherwise a proxy could let something through that it didn't mean to.
import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../../base/object.ts';
import { HEADER_MISMATCH } from '../../mcp/eras.ts';
import { decodeHeaderValue, findRepeatedArguments, NAMED_BY } from '../../mcp/repeated.ts';
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
  if (decodeHeaderValue(saidName) !== name) return mismatch(differs('Mcp-Name'));
  if (method !== 'tools/call') return undefined;

  const wrong = findWrongParameter(toolSchema(name), params['arguments'], headers);
  return wrong === undefined ? undefined : mismatch(wrong);
}

/** Checks the arguments a tool wants repeated in `Mcp-Param-…` headers. */
function findWrongParameter(
  schema: unknown,
  args: unknown,
  headers: IncomingHttpHeaders,
): string | undefined {
  for (const { header, text, value, isNumber } of findRepeatedArguments(schema, args)) {
    const said = textOf(headers[header.toLowerCase()]);
    if (said === undefined) return missing(header);
    const decoded = decodeHeaderValue(said);
    const isSame = decoded === text || (isNumber && isSameNumber(decoded, value));
    if (!isSame) return differs(header);
  }
  return undefined;
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
