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
  explainDenial,
  explainNetworkError,
  explainServerRedirect,
  explainTooMany,
  parseRetryAfter,
} from './failures.ts';
import { redirectTarget } from './reply.ts';
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
    if (waitMs > 0) throw explainTooMany(server, Math.ceil(waitMs / 1_000));
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
      const target = redirectTarget(reply, url);
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
    const denial = explainDenial(this.#options.server, reply);
    if (!denial) return;
    discard(reply);
    if (reply.status === 429) {
      const wait = parseRetryAfter(reply.headers['retry-after']) ?? 0;
      this.#notBefore = performance.now() + wait * 1_000;
    }
    throw denial;
  }
}

/** Closes a reply that won't be read. */
export function discard({ body }: HttpReply): void {
  body.destroy();
}
