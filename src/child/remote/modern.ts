// Requests of the era without handshakes (since revision 2026-07-28) over HTTP. Each stands for
// itself: no session, nothing that is resumed, and what those on the way need to know of it stands in
// headers as well.
import { isObject } from '../../base/object.ts';
import { MODERN_REVISION } from '../../mcp/eras.ts';
import { NAMED_BY } from '../../mcp/repeated.ts';
import { METHOD_NOT_FOUND, type OutgoingRequest, RpcError } from '../../rpc/message.ts';
import { headerValue, type InputSchemaOf, paramHeaders } from './param-headers.ts';

/** The question whether a server knows this era, before anything is known of it. */
const DISCOVER = 'server/discover';

/** The headers of a request of that era; undefined for one that belongs to a handshake. */
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
    ...(typeof name === 'string' && { 'mcp-name': headerValue(name) }),
  };
}

/**
 * A server of the other era may reply anything to the question whether it is of this one: that it has
 * no session, that there is no such page. All of it means that it does not know the question; what is
 * wrong with it otherwise shows in the handshake.
 */
export function explainReply(method: string, failure: Error): Error {
  if (method !== DISCOVER) return failure;
  return new RpcError(METHOD_NOT_FOUND, failure.message);
}
