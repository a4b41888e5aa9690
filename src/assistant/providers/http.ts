// HTTP requests to a provider: only to the configured address, and with a limit on the answer's size.
import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../../base/object.ts';
import { createMask, type Mask } from '../../base/secrets.ts';
import { readText } from '../../net/body.ts';
import { ACCEPTED_ENCODINGS, HttpClient } from '../../net/http-client.ts';

export interface ApiOptions {
  readonly apiKey: string | undefined;
  /** The environment variable for the key, whether or not it's set. */
  readonly keyVariable?: string | undefined;
  readonly baseUrl: string | undefined;
  readonly model: string | undefined;
  readonly maxTokens: number;
  /** Names the proxy, if there is one. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

export interface ApiReply {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Longer than any model's answer. */
const MOST_BYTES = 32 << 20;

/** The part of `fetch`'s options we use. */
interface RequestParts {
  readonly headers?: RequestInit['headers'];
  readonly body?: RequestInit['body'];
  readonly signal?: AbortSignal | null | undefined;
}

export type Post = (address: string | URL, parts: RequestParts) => Promise<ApiReply>;

/**
 * Doesn't use `fetch`, which gives up after five minutes of silence: a local model may think longer, up to
 * the query's limit. Doesn't follow redirects, which would send the whole conversation elsewhere.
 */
export function createPost(env?: NodeJS.ProcessEnv): Post {
  const client = new HttpClient({ env });
  return async (address, { headers, body, signal }) => {
    const reply = await client.send({
      method: 'POST',
      url: new URL(address),
      headers: {
        'accept-encoding': ACCEPTED_ENCODINGS,
        ...Object.fromEntries(new Headers(headers)),
      },
      body: typeof body === 'string' ? body : undefined,
      signal: signal ?? new AbortController().signal,
    });
    const { status } = reply;
    const text = await readText(reply.body, MOST_BYTES);
    return { ok: status >= 200 && status < 300, status, headers: headersOf(reply.headers), text };
  };
}

function headersOf(received: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received)) {
    if (typeof value === 'string') headers.set(name, value);
  }
  return headers;
}

/** Undefined unless the answer is a redirect. */
export function describeRedirect(status: number, headers: Headers | undefined): string | undefined {
  if (status < 300 || status >= 400) return undefined;
  const where = headers?.get('location') ?? '';
  const host = URL.canParse(where) ? ` to ${new URL(where).host}` : '';
  return `it redirects${host}, which is not followed`;
}

/** The error message, in either of the usual forms. */
export function messageIn(value: unknown): string | undefined {
  const error = isObject(value) ? (value['error'] ?? value) : undefined;
  const message = isObject(error) ? error['message'] : error;
  return typeof message === 'string' && message.trim() !== '' ? message : undefined;
}

/** Masks the key, and credentials in the URL. */
export function maskFor({ apiKey = '', baseUrl = '' }: ApiOptions): Mask {
  const password = URL.canParse(baseUrl) ? new URL(baseUrl).password : '';
  const mask = createMask([apiKey, password]);
  return (text) => mask(text.replaceAll(/:\/\/[^/]*@/g, '://***@'));
}
