// The older HTTP+SSE transport: the event stream of one GET first names the URL to POST to, then
// carries all of the server's messages. When the stream ends, so does the connection.
import { SwitchboardError } from '../../base/errors.ts';
import { OpenBodies, Oversize } from '../../net/body.ts';
import type { HttpReply } from '../../net/http-client.ts';
import { parseJson, parseWithin } from '../../rpc/json-text.ts';
import type { Outgoing, OutgoingRequest } from '../../rpc/message.ts';
import { readEvents, type ServerEvent } from './events.ts';
import { explainContent, explainForeignEndpoint, explainStatus } from './failures.ts';
import { explainReply } from './modern.ts';
import {
  drain,
  errorIn,
  isEventStream,
  isSameId,
  isSuccess,
  mediaType,
  readRefusal,
} from './reply.ts';
import type { Sender } from './sender.ts';
import type { RemoteServer } from './server.ts';
import type { Wire, WireEvents } from './wire.ts';

export interface OlderSseOptions extends WireEvents {
  readonly server: RemoteServer;
  readonly url: URL;
  readonly sender: Sender;
  /** Milliseconds for the reply to a notification. */
  readonly handshakeMs: number;
  /** Reported if the server doesn't support this transport either. */
  readonly insteadOf?: Error | undefined;
}

/** A request in flight. */
interface Post {
  readonly controller: AbortController;
  /** The server may have received it. */
  isSent: boolean;
}

export class OlderSseWire implements Wire {
  readonly #options: OlderSseOptions;
  readonly #bodies = new OpenBodies();
  readonly #stream = new AbortController();
  readonly #posts = new Map<number, Post>();
  /** Notifications and answers in flight. */
  readonly #notices = new Set<AbortController>();
  /** Where to POST. Never rejects: if the URL doesn't arrive, the wire ends. */
  readonly #endpoint: Promise<URL>;
  #resolveEndpoint: (url: URL) => void = () => {};
  /** Earlier messages, which must arrive first. */
  #sent: Promise<void> = Promise.resolve();
  #hasOpened = false;
  #isClosed = false;

  constructor(options: OlderSseOptions) {
    this.#options = options;
    this.#endpoint = new Promise((resolve) => {
      this.#resolveEndpoint = resolve;
    });
    this.#read().catch(options.onBug);
  }

  send(json: string, message: Outgoing): void {
    const before = this.#sent;
    if (message.kind === 'request') return void this.#ask(json, message, before);
    if (message.kind === 'answer') return void this.#tell(json, before);
    const { method, cancels } = message;
    const post = cancels === undefined ? undefined : this.#posts.get(cancels);
    post?.controller.abort();
    if (post?.isSent === false) return; // nothing to cancel
    const sent = this.#tell(json, before);
    if (method === 'notifications/initialized') this.#sent = sent;
  }

  pause(): void {
    this.#bodies.pause();
  }

  resume(): void {
    this.#bodies.resume();
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#stream.abort();
    for (const { controller } of this.#posts.values()) controller.abort();
    for (const controller of this.#notices) controller.abort();
    this.#options.sender.close();
    return Promise.resolve();
  }

  async #read(): Promise<void> {
    const { server, url, sender, onEnd } = this.#options;
    try {
      const { signal } = this.#stream;
      const headers = { accept: 'text/event-stream' };
      const reply = await sender.send({ method: 'GET', url, headers, signal });
      if (!isEventStream(reply)) {
        const refusal = await readRefusal(reply, server);
        throw isSuccess(reply)
          ? explainContent(server, mediaType(reply), refusal.text)
          : explainStatus(server, refusal);
      }
      this.#hasOpened = true;
      this.#bodies.add(reply.body);
      const onEvent = (event: ServerEvent): void => this.#take(event);
      await readEvents(reply.body, server.messageBytes, { onEvent });
      this.#end(undefined);
    } catch (error) {
      if (error instanceof Oversize) onEnd({ kind: 'oversized' });
      else this.#end(error as Error);
    }
  }

  #end(error: Error | undefined): void {
    const { onEnd, insteadOf } = this.#options;
    if (this.#isClosed) return;
    const failure = this.#hasOpened ? error : (signInOf(error) ?? insteadOf ?? error);
    onEnd({ kind: 'disconnected', reason: undefined }, failure);
  }

  #take({ type, data }: ServerEvent): void {
    const { server, url, onMessage } = this.#options;
    if (type === 'endpoint') {
      const endpoint = URL.canParse(data, url.href) ? new URL(data, url) : undefined;
      // Credentials never go to another origin.
      if (endpoint?.origin !== url.origin) throw explainForeignEndpoint(server, endpoint);
      this.#resolveEndpoint(endpoint);
      return;
    }
    const value = type === 'message' ? parseWithin(data, server.messageShape) : undefined;
    if (value !== undefined) onMessage(data, value);
  }

  async #ask(json: string, { id, method }: OutgoingRequest, before: Promise<void>): Promise<void> {
    const { server, onMessage, onFailure } = this.#options;
    const controller = new AbortController();
    const { signal } = controller;
    const post: Post = { controller, isSent: false };
    this.#posts.set(id, post);
    try {
      const url = await this.#endpoint;
      await before;
      if (signal.aborted) return;
      post.isSent = true;
      const reply = await this.#post(json, url, signal);
      if (isSuccess(reply)) return await drain(reply);
      const refusal = await readRefusal(reply, server);
      if (isSameId(errorIn(refusal)?.id, id)) {
        return onMessage(refusal.text, parseJson(refusal.text));
      }
      throw explainReply(method, explainStatus(server, refusal));
    } catch (error) {
      if (!signal.aborted) onFailure(id, error as Error);
    } finally {
      this.#posts.delete(id);
    }
    return undefined;
  }

  /** Sends a message that has no answer. Failures are ignored. */
  async #tell(json: string, before: Promise<void>): Promise<void> {
    const controller = new AbortController();
    this.#notices.add(controller);
    const timer = setTimeout(() => controller.abort(), this.#options.handshakeMs).unref();
    try {
      const url = await this.#endpoint;
      await before;
      await drain(await this.#post(json, url, controller.signal));
    } catch {
      // the next request reports it
    } finally {
      clearTimeout(timer);
      this.#notices.delete(controller);
    }
  }

  #post(json: string, url: URL, signal: AbortSignal): Promise<HttpReply> {
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    return this.#options.sender.send({ method: 'POST', url, headers, body: json, signal });
  }
}

/** A missing sign-in is worth reporting, whichever transport found it. */
function signInOf(error: Error | undefined): Error | undefined {
  return error instanceof SwitchboardError && error.code === 'CHILD_SIGN_IN' ? error : undefined;
}
