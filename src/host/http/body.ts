// Reads the body of a POST.
import type { IncomingMessage } from 'node:http';
import { PARSE_ERROR } from '../../rpc/message.ts';
import { describeExceeded } from '../../rpc/shape.ts';
import { badRequest, type HttpRefusal, refusal } from './refusal.ts';

/** Checks a body's headers before any of it is read. */
export function checkBodyHeaders(
  { headers }: IncomingMessage,
  limitBytes: number,
): HttpRefusal | undefined {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map((text) => /^\s*charset="?([^"\s]*)/.exec(text)?.[1]).find(Boolean);
  if (type.trim() !== 'application/json' || (charset !== undefined && !/^utf-?8$/.test(charset))) {
    return refusal(415, 'Content-Type must be application/json in UTF-8.');
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    return refusal(415, 'Content-Encoding is not supported.');
  }
  return Number(headers['content-length'] ?? 0) > limitBytes ? tooLarge(limitBytes) : undefined;
}

/** The body's text; undefined if the client went away before its end. */
export async function readRequestBody(
  request: IncomingMessage,
  limitBytes: number,
): Promise<string | HttpRefusal | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of request.iterator({ destroyOnReturn: false })) {
      bytes += (piece as Buffer).length;
      if (bytes > limitBytes) return tooLarge(limitBytes);
      pieces.push(piece as Buffer);
    }
  } catch {
    return undefined; // aborted, or too slow
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
  } catch {
    return badRequest('The body is not valid UTF-8.', { code: PARSE_ERROR });
  }
}

function tooLarge(limitBytes: number): HttpRefusal {
  return refusal(413, describeExceeded({ name: 'messageBytes', most: limitBytes }));
}
