// Writes whole responses to clients that may not read them.
import type { ServerResponse } from 'node:http';
import { toOneLine } from '../../rpc/one-line.ts';

/** How long a client may take to read a response that is complete. */
const LAST_BYTES_MS = 60_000;

export function sendJson(
  response: ServerResponse,
  status: number,
  json: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const body = Buffer.from(toOneLine(json));
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  endInTime(response, body);
}

export function sendNothing(response: ServerResponse, status: number): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-length': 0, 'cache-control': 'no-store' });
  response.end();
}

/** Ends a response, and drops it if the client never reads the rest. */
export function endInTime(response: ServerResponse, body?: Buffer): void {
  const cut = setTimeout(() => response.destroy(), LAST_BYTES_MS).unref();
  response.once('close', () => clearTimeout(cut));
  response.once('finish', () => clearTimeout(cut));
  response.end(body);
}
