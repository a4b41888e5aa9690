// What a message of ours is, from the first of its bytes. The peer hands a transport texts, and HTTP
// treats requests otherwise than the rest; reading a whole message again to find out would cost as
// much as writing it.
import { isObject } from '../../base/object.ts';
import { parseJson } from '../../rpc/json-text.ts';

export type Outgoing =
  | { readonly kind: 'request'; readonly id: number; readonly method: string }
  | { readonly kind: 'notification'; readonly method: string }
  | { readonly kind: 'answer' };

/** The order of members in `rpc/message.ts`, which has written them all. */
const HEAD = /^\{"jsonrpc":"2\.0"(?:,"id":(?<id>\d+))?,"method":"(?<method>[^"]*)"/;

export function readOutgoing(json: string): Outgoing {
  const { id, method } = HEAD.exec(json)?.groups ?? {};
  if (method === undefined) return { kind: 'answer' };
  if (id === undefined) return { kind: 'notification', method };
  return { kind: 'request', id: Number(id), method };
}

/** The request that a `notifications/cancelled` calls off. */
export function cancelledRequest(json: string): number | undefined {
  const message = parseJson(json);
  const params = isObject(message) ? message['params'] : undefined;
  const id = isObject(params) ? params['requestId'] : undefined;
  return typeof id === 'number' ? id : undefined;
}
