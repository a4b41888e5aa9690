// The three requests of Streamable HTTP: POST a message, GET the server's own stream, DELETE the session.
import { settleWithin } from '../../base/time.ts';
import type { HttpReply } from '../../net/http-client.ts';
import { discard, type Sender } from './sender.ts';
import { type RemoteSession, sessionHeaders } from './session.ts';

export interface StreamableEndpointOptions {
  readonly url: URL;
  readonly sender: Sender;
}

const GOODBYE_MS = 1_000;

export class StreamableEndpoint {
  readonly #options: StreamableEndpointOptions;

  constructor(options: StreamableEndpointOptions) {
    this.#options = options;
  }

  /** `about` has the headers that depend on the message. */
  post(
    json: string,
    about: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<HttpReply> {
    const { sender, url } = this.#options;
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...about,
    };
    return sender.send({ method: 'POST', url, headers, body: json, signal });
  }

  get(
    session: RemoteSession,
    lastEventId: string | undefined,
    signal: AbortSignal,
  ): Promise<HttpReply> {
    const { sender, url } = this.#options;
    const headers = {
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      ...sessionHeaders(session),
    };
    return sender.send({ method: 'GET', url, headers, signal });
  }

  async endSession(session: RemoteSession): Promise<void> {
    const { sender, url } = this.#options;
    const controller = new AbortController();
    const headers = sessionHeaders(session);
    const { signal } = controller;
    const sent = sender.send({ method: 'DELETE', url, headers, signal }).then(discard, () => {
      // the server expires the session by itself
    });
    await settleWithin(sent, GOODBYE_MS);
    controller.abort();
  }
}
