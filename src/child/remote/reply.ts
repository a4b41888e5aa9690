// Classifies the reply to a POST: a JSON answer, an event stream, or a refusal.
import { isObject } from '../../base/object.ts';
import { readBeginning } from '../../net/body.ts';
import type { HttpReply } from '../../net/http-client.ts';
import { parseJson } from '../../rpc/json-text.ts';
import { findExceeded } from '../../rpc/shape.ts';
import type { RefusedReply } from './failures.ts';
import type { RemoteServer } from './server.ts';

/** How much of an error page is read, and for how long. */
const REFUSAL_BYTES = 64 * 1024;
const REFUSAL_MS = 1_000;

export function mediaType({ headers }: HttpReply): string {
  return (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

export function isEventStream(reply: HttpReply): boolean {
  return isSuccess(reply) && mediaType(reply) === 'text/event-stream';
}

export function isSuccess({ status }: HttpReply): boolean {
  return status >= 200 && status < 300;
}

/** Undefined if the reply names no valid URL. */
export function redirectTarget({ headers }: HttpReply, base: URL): URL | undefined {
  const { location } = headers;
  return location !== undefined && URL.canParse(location, base.href)
    ? new URL(location, base)
    : undefined;
}

export async function readRefusal(
  reply: HttpReply,
  { messageBytes, messageShape }: Pick<RemoteServer, 'messageBytes' | 'messageShape'>,
): Promise<RefusedReply> {
  const isJson = mediaType(reply) === 'application/json';
  const body = await readBeginning(reply.body, isJson ? messageBytes : REFUSAL_BYTES, REFUSAL_MS);
  // Beyond the limits it is cut to a quote, which is no longer valid JSON.
  const isComplex = findExceeded(Buffer.from(body), messageShape) !== undefined;
  const text = isComplex ? body.slice(0, REFUSAL_BYTES) : body;
  return { status: reply.status, text, retryAfter: reply.headers['retry-after'] };
}

/** Reads a short body that isn't needed, so that the connection can be reused. */
export async function drain(reply: HttpReply): Promise<void> {
  await readBeginning(reply.body, REFUSAL_BYTES, REFUSAL_MS);
}

/** The JSON-RPC error in a refusal, with its id. */
export function errorIn({ text }: RefusedReply): { id: unknown; code: unknown } | undefined {
  const value = parseJson(text);
  const error = isObject(value) ? value['error'] : undefined;
  return isObject(value) && isObject(error) ? { id: value['id'], code: error['code'] } : undefined;
}

/** Whether the message, or one in the batch, answers the request. */
export function answers(value: unknown, id: number): boolean {
  if (Array.isArray(value)) return value.some((one) => answers(one, id));
  // Some servers return a numeric id as a string.
  return isObject(value) && value['method'] === undefined && isSameId(value['id'], id);
}

export function isSameId(value: unknown, id: number): boolean {
  return value === id || value === String(id);
}
