// HTTP requests of the modern era (since revision 2026-07-28), which has no handshake: no session, no
// resumption, and headers that repeat what proxies need to know.
import { isObject } from '../../base/object.ts';
import { MODERN_REVISION } from '../../mcp/eras.ts';
import { encodeHeaderValue, NAMED_BY } from '../../mcp/repeated.ts';
import { METHOD_NOT_FOUND, type OutgoingRequest, RpcError } from '../../rpc/message.ts';
import { type InputSchemaOf, paramHeaders } from './param-headers.ts';

/** Asks whether a server supports this era. */
const DISCOVER = 'server/discover';

/** Undefined for a request of the handshake era. */
export function modernHeaders(
  { method, mirrored }: OutgoingRequest,
  inputSchemaOf?: InputSchemaOf,
): Record<string, string> | undefined {
  if (!mirrored) return undefined;
  const params = isObject(mirrored.value) ? mirrored.value : {};
  const name = params[NAMED_BY.get(method) ?? ''];
  const schema =
    method === 'tools/call' && typeof name === 'string' ? inputSchemaOf?.(name) : undefined;
  return {
    ...paramHeaders(schema, params['arguments']),
    'mcp-protocol-version': MODERN_REVISION,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': encodeHeaderValue(name) }),
  };
}

/**
 * A server of the handshake era may answer `server/discover` with any error, such as a missing session or
 * page. They all mean that it doesn't support the method; real problems show up in the handshake.
 */
export function explainReply(method: string, failure: Error): Error {
  if (method !== DISCOVER) return failure;
  return new RpcError(METHOD_NOT_FOUND, failure.message);
}
