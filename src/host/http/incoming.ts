// Parses the body of a POST: one message, or in one old revision a batch. Invalid messages are refused here, so that a
// session never has to answer anything that belongs to no request.
import { isObject } from '../../base/object.ts';
import { parseWithin } from '../../rpc/json-text.ts';
import { type Id, isId, PARSE_ERROR } from '../../rpc/message.ts';
import { idFromOversize } from '../../rpc/oversize.ts';
import { describeExceeded, type ShapeLimits, TooComplex } from '../../rpc/shape.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import { badRequest, type HttpRefusal, refusal } from './refusal.ts';

export interface Incoming {
  readonly text: string;
  readonly value: Record<string, unknown>;
  readonly kind: 'request' | 'notification' | 'response';
  /** Only requests have one. */
  readonly id: Id | undefined;
  /** Empty for responses. */
  readonly method: string;
}

/** One message, or a batch. */
export type Body = Incoming | readonly Incoming[];

export function isBatch(body: Body): body is readonly Incoming[] {
  return Array.isArray(body);
}

export function parseMessages(text: string, limits: ShapeLimits): Body | HttpRefusal {
  const value = parseWithin(text, limits);
  if (value instanceof TooComplex) return refuseComplex(value);
  if (value === undefined) return badRequest('The body is not valid JSON.', { code: PARSE_ERROR });
  if (!Array.isArray(value)) return parseMessage(new Verbatim(text, value));
  if (value.length === 0) return badRequest('A batch must not be empty.');
  const messages: Incoming[] = [];
  for (const element of new Verbatim(text, value).elements()) {
    const message = parseMessage(element);
    if (isRefusal(message)) return message;
    messages.push(message);
  }
  return messages;
}

function refuseComplex(limit: TooComplex): HttpRefusal {
  const found = idFromOversize(limit.head, limit.tail);
  const id = found?.kind === 'request' ? found.id : undefined;
  return refusal(413, describeExceeded(limit), { id });
}

export function isRefusal(value: object): value is HttpRefusal {
  return 'status' in value && 'code' in value;
}

function parseMessage({ text, value }: Verbatim): Incoming | HttpRefusal {
  if (!isObject(value)) return badRequest('A message must be a JSON object.');
  const { id, method, jsonrpc } = value;
  if (id !== undefined && !isId(id)) {
    const isError = id === null && method === undefined && 'error' in value;
    if (!isError) return badRequest('An id must be a string or a number.');
  }
  const known = isId(id) ? id : undefined;
  if (jsonrpc !== '2.0') return badRequest('A message needs "jsonrpc": "2.0".', { id: known });
  if (typeof method === 'string') {
    const kind = known === undefined ? 'notification' : 'request';
    return { text, value, kind, id: known, method };
  }
  if (method === undefined && ('result' in value || 'error' in value)) {
    return { text, value, kind: 'response', id: undefined, method: '' };
  }
  return badRequest('A message needs a method, a result or an error.', { id: known });
}
