// Sends requests to one server, with the configured headers and the user's credentials, which never go anywhere
// else. Handles replies that require a sign-in, a redirect or a wait.
import { VERSION } from '../../base/version.ts';
import {
  ACCEPTED_ENCODINGS,
  HttpClient,
  type HttpReply,
  type HttpRequest,
} from '../../net/http-client.ts';
import type { Credentials } from '../credentials.ts';
import {
  explainNetworkError,
  explainServerRedirect,
  explainSignIn,
  explainTooMany,
  parseRetryAfter,
} from './failures.ts';
import type { RemoteServer } from './server.ts';

export interface SenderOptions {
  readonly server: RemoteServer;
  /** The configured ones, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: Credentials | undefined;
  /** Names the proxy. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

const MAX_REDIRECTS = 3;

export class Sender {
  readonly #options: SenderOptions;
  readonly #client: HttpClient;
  /** Rate limited until then, in `performance` time. */
  #notBefore = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#client = new HttpClient({ env: options.env });
  }

  /**
   * Rejects with a SwitchboardError if there is no reply, or one that isn't about this request. A request
   * whose credentials were rejected is sent once more with renewed ones.
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

  /** Follows redirects within the origin that keep the method. */
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
      // Other statuses may mean that a POST was processed and its result is over there.
      const keepsMethod = status === 307 || status === 308 || request.method === 'GET';
      if (!target || target.origin !== url.origin || !keepsMethod || left === 0) {
        throw explainServerRedirect(this.#options.server, status, target);
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

/** Closes a reply that won't be read. */
export function discard({ body }: HttpReply): void {
  body.destroy();
}

function locate(location: string | undefined, base: URL): URL | undefined {
  return location !== undefined && URL.canParse(location, base.href)
    ? new URL(location, base)
    : undefined;
}
