// One request to a provider over HTTP, whichever API it speaks: to the address that was set and nowhere
// else, and not more of the answer is read than a bound.
import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../../base/object.ts';
import { createMask, type Mask } from '../../base/secrets.ts';
import { readText } from '../../net/body.ts';
import { ACCEPTED_ENCODINGS, HttpClient } from '../../net/http-client.ts';

/** What every provider with an address and a key is made of. */
export interface ApiOptions {
  readonly apiKey: string | undefined;
  /** The variable that the key came from, or that it would be looked for in. */
  readonly keyVariable?: string | undefined;
  readonly baseUrl: string | undefined;
  readonly model: string | undefined;
  readonly maxTokens: number;
}

/** An answer that was read to its end. */
export interface Reply {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** No answer of a model is longer than this. */
const MOST_BYTES = 32 << 20;

/** What is sent; nothing else of what `fetch` knows is used. */
interface RequestParts {
  readonly headers?: RequestInit['headers'];
  readonly body?: RequestInit['body'];
  readonly signal?: AbortSignal | null | undefined;
}

export type Post = (address: string | URL, parts: RequestParts) => Promise<Reply>;

/**
 * Not with `fetch`, which gives up after five minutes of silence: a model on the user's own machine may
 * think for longer, and how long is for the query's limit to say. Nor is a redirect followed: whoever
 * sends us elsewhere would get the whole conversation sent there.
 */
export function createPost(): Post {
  const client = new HttpClient();
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

/** Why an answer that sends us elsewhere is not followed; undefined for any other. */
export function explainRedirect(status: number, headers: Headers | undefined): string | undefined {
  if (status < 300 || status >= 400) return undefined;
  const where = headers?.get('location') ?? '';
  const host = URL.canParse(where) ? ` to ${new URL(where).host}` : '';
  return `it leads on${host}, and nothing is sent to another address than the one that is set`;
}

/** What a refusal says, in either of the usual forms. */
export function messageIn(value: unknown): string | undefined {
  const error = isObject(value) ? (value['error'] ?? value) : undefined;
  const message = isObject(error) ? error['message'] : error;
  return typeof message === 'string' && message.trim() !== '' ? message : undefined;
}

/** Hides the key, and what stands in an address to sign in with, however it is written there. */
export function maskFor({ apiKey = '', baseUrl = '' }: ApiOptions): Mask {
  const password = URL.canParse(baseUrl) ? new URL(baseUrl).password : '';
  const mask = createMask([apiKey, password]);
  return (text) => mask(text.replaceAll(/:\/\/[^/]*@/g, '://***@'));
}
