// The older HTTP+SSE transport: one GET whose stream of events first names the address to POST to
// and then brings everything the server says. With that stream the connection ends.
import { SwitchboardError } from '../../base/errors.ts';
import { parseJson } from '../../rpc/json-text.ts';
import { OpenBodies, Oversize } from './body.ts';
import { readEvents, type ServerEvent } from './events.ts';
import { explainContent, explainForeignEndpoint, explainStatus } from './failures.ts';
import { cancelledRequest, readOutgoing } from './outgoing.ts';
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
  /** What is to be reported where the address does not know this transport either. */
  readonly insteadOf?: Error | undefined;
}

export class OlderSseWire implements Wire {
  readonly #options: OlderSseOptions;
  readonly #bodies = new OpenBodies();
  readonly #stream = new AbortController();
  readonly #posts = new Map<number, AbortController>();
  /** Where to post to. It never rejects: where the address does not come, the wire ends. */
  readonly #endpoint: Promise<URL>;
  #resolveEndpoint: (url: URL) => void = () => {};
  /** The messages before, which must arrive first. */
  #sent: Promise<void> = Promise.resolve();
  #hasOpened = false;
  #isClosed = false;

  constructor(options: OlderSseOptions) {
    this.#options = options;
    this.#endpoint = new Promise((resolve) => {
      this.#resolveEndpoint = resolve;
    });
    void this.#read();
  }

  send(json: string): void {
    const message = readOutgoing(json);
    const method = message.kind === 'notification' ? message.method : undefined;
    if (method === 'notifications/cancelled') {
      this.#posts.get(cancelledRequest(json) ?? -1)?.abort();
    }
    const id = message.kind === 'request' ? message.id : undefined;
    const before = this.#sent;
    const sent = this.#post(json, id, before);
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
    for (const controller of this.#posts.values()) controller.abort();
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
        const refusal = await readRefusal(reply, server.messageBytes);
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
      // Our credentials go to no other place, whoever asks for it.
      if (endpoint?.origin !== url.origin) throw explainForeignEndpoint(server, endpoint);
      this.#resolveEndpoint(endpoint);
      return;
    }
    const value = type === 'message' ? parseJson(data) : undefined;
    if (value !== undefined) onMessage(data, value);
  }

  async #post(json: string, id: number | undefined, before: Promise<void>): Promise<void> {
    const { server, sender, onMessage, onFailure } = this.#options;
    const controller = new AbortController();
    const { signal } = controller;
    if (id !== undefined) this.#posts.set(id, controller);
    try {
      const url = await this.#endpoint;
      await before;
      const headers = { 'content-type': 'application/json', accept: 'application/json' };
      const reply = await sender.send({ method: 'POST', url, headers, body: json, signal });
      if (isSuccess(reply)) return await drain(reply);
      const refusal = await readRefusal(reply, server.messageBytes);
      if (id !== undefined && isSameId(errorIn(refusal)?.id, id)) {
        return onMessage(refusal.text, parseJson(refusal.text));
      }
      throw explainStatus(server, refusal);
    } catch (error) {
      const isWanted = id !== undefined && !signal.aborted;
      if (isWanted) onFailure(id, error as Error);
      return undefined; // what has no answer has no one to be told
    } finally {
      if (id !== undefined) this.#posts.delete(id);
    }
  }
}

/** That one has to sign in is worth knowing, whichever transport the server knows. */
function signInOf(error: Error | undefined): Error | undefined {
  return error instanceof SwitchboardError && error.code === 'CHILD_SIGN_IN' ? error : undefined;
}
