// Requests to one server: with the configured headers and the user's credentials, which go to no
// other place, whatever the server says. What every reply may mean (sign in, go there, wait) is
// settled here; the rest is for those who asked.
import { VERSION } from '../../base/version.ts';
import type { Credentials } from '../credentials.ts';
import {
  explainNetworkError,
  explainRedirect,
  explainSignIn,
  explainTooMany,
  parseRetryAfter,
} from './failures.ts';
import { ACCEPTED_ENCODINGS, HttpClient, type HttpReply, type HttpRequest } from './http.ts';
import type { RemoteServer } from './server.ts';

export interface SenderOptions {
  readonly server: RemoteServer;
  /** The configured ones, their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: Credentials | undefined;
}

const MAX_REDIRECTS = 3;

export class Sender {
  readonly #options: SenderOptions;
  readonly #client = new HttpClient();
  /** The server wants to be left alone until then, on the clock of `performance`. */
  #notBefore = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /**
   * Rejects with a SwitchboardError where nothing came back, or what came back concerns all
   * requests alike. A request that was refused for its credentials is sent once more with newer ones.
   */
  async send(request: HttpRequest): Promise<HttpReply> {
    const { server } = this.#options;
    const waitMs = this.#notBefore - performance.now();
    if (waitMs > 0) throw explainTooMany(server, waitMs);
    const used = await this.#authorization();
    let reply = await this.#follow(request, used);
    if (reply.status === 401) {
      const newer = await this.#renew(used);
      if (newer !== undefined) {
        discard(reply);
        reply = await this.#follow(request, newer);
      }
    }
    this.#check(reply);
    return reply;
  }

  close(): void {
    this.#client.close();
  }

  async #authorization(): Promise<string | undefined> {
    const { server, headers, credentials } = this.#options;
    if (headers['authorization'] !== undefined) return headers['authorization'];
    const value = await credentials?.authorization();
    if (value !== undefined) server.secrets.addHeader(value);
    return value;
  }

  async #renew(used: string | undefined): Promise<string | undefined> {
    const { server, headers, credentials } = this.#options;
    if (headers['authorization'] !== undefined) return undefined;
    const value = await credentials?.renew(used);
    if (value !== undefined) server.secrets.addHeader(value);
    return value;
  }

  /** Follows redirects that stay where they are: same scheme, host and port, same method. */
  async #follow(request: HttpRequest, authorization: string | undefined): Promise<HttpReply> {
    const headers = {
      'user-agent': `switchboard/${VERSION}`,
      ...this.#options.headers,
      ...request.headers,
      'accept-encoding': ACCEPTED_ENCODINGS,
      ...(authorization === undefined ? {} : { authorization }),
    };
    let { url } = request;
    for (let left = MAX_REDIRECTS; ; left--) {
      const reply = await this.#exchange({ ...request, url, headers });
      const { status } = reply;
      if (status < 300 || status >= 400 || status === 304) return reply;
      discard(reply);
      const target = locate(reply.headers.location, url);
      // The others may mean that a POST has been done, and that its outcome is to be had there.
      const keepsMethod = status === 307 || status === 308 || request.method === 'GET';
      if (!target || target.origin !== url.origin || !keepsMethod || left === 0) {
        throw explainRedirect(this.#options.server, status, target);
      }
      url = target;
    }
  }

  async #exchange(request: HttpRequest): Promise<HttpReply> {
    try {
      return await this.#client.send(request);
    } catch (error) {
      throw explainNetworkError(this.#options.server, error);
    }
  }

  #check(reply: HttpReply): void {
    const { server } = this.#options;
    const { status, headers } = reply;
    const challenge = headers['www-authenticate'];
    if (status === 401 || (status === 403 && /\binsufficient_scope\b/.test(challenge ?? ''))) {
      discard(reply);
      throw explainSignIn(server, status, challenge);
    }
    if (status === 429) {
      discard(reply);
      const seconds = parseRetryAfter(headers['retry-after']);
      const waitMs = seconds === undefined ? undefined : seconds * 1_000;
      this.#notBefore = performance.now() + (waitMs ?? 0);
      throw explainTooMany(server, waitMs);
    }
  }
}

/** Lets go of a reply that nobody wants to read. */
export function discard({ body }: HttpReply): void {
  body.destroy();
}

function locate(location: string | undefined, base: URL): URL | undefined {
  return location !== undefined && URL.canParse(location, base.href)
    ? new URL(location, base)
    : undefined;
}
