// The body of a POST: its type, its size, its text.
import type { IncomingMessage } from 'node:http';
import { PARSE_ERROR } from '../../rpc/message.ts';
import { describeExceeded } from '../../rpc/shape.ts';
import { badRequest, type Refusal, refusal } from './refusal.ts';

/** Whether a body is what can be read here; looked at before any of it is. */
export function checkBodyHeaders(
  { headers }: IncomingMessage,
  limitBytes: number,
): Refusal | undefined {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map((text) => /^\s*charset="?([^"\s]*)/.exec(text)?.[1]).find(Boolean);
  if (type.trim() !== 'application/json' || (charset !== undefined && !/^utf-?8$/.test(charset))) {
    return refusal(415, 'Content-Type must be application/json, in UTF-8.');
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    return refusal(415, 'A body must come as it is, without Content-Encoding.');
  }
  return Number(headers['content-length'] ?? 0) > limitBytes ? tooLarge(limitBytes) : undefined;
}

/** The text of a body; undefined if the client has gone before its end. */
export async function readBody(
  request: IncomingMessage,
  limitBytes: number,
): Promise<string | Refusal | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of request.iterator({ destroyOnReturn: false })) {
      bytes += (piece as Buffer).length;
      if (bytes > limitBytes) return tooLarge(limitBytes);
      pieces.push(piece as Buffer);
    }
  } catch {
    return undefined; // cut off, or too slow
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
  } catch {
    return badRequest('The body is not UTF-8.', { code: PARSE_ERROR });
  }
}

function tooLarge(limitBytes: number): Refusal {
  return refusal(413, describeExceeded({ name: 'messageBytes', most: limitBytes }));
}
