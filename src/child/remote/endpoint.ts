// The address of a server over Streamable HTTP, and the three requests that it knows: a message of ours,
// the stream of what it says of its own accord, and the end of a session.
import type { HttpReply } from './http.ts';
import { discard, type Sender } from './sender.ts';
import { type Session, sessionHeaders } from './session.ts';
import { sleep } from './wire.ts';

export interface EndpointOptions {
  readonly url: URL;
  readonly sender: Sender;
}

const GOODBYE_MS = 1_000;

export class Endpoint {
  readonly #options: EndpointOptions;

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  /** `about` is what the headers say of the message itself. */
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

  get(session: Session, lastEventId: string | undefined, signal: AbortSignal): Promise<HttpReply> {
    const { sender, url } = this.#options;
    const headers = {
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      ...sessionHeaders(session),
    };
    return sender.send({ method: 'GET', url, headers, signal });
  }

  async endSession(session: Session): Promise<void> {
    const { sender, url } = this.#options;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), GOODBYE_MS);
    const headers = sessionHeaders(session);
    const { signal } = controller;
    const sent = sender.send({ method: 'DELETE', url, headers, signal }).then(discard, () => {
      // a server that does not hear of it ends the session by itself
    });
    await Promise.race([sent, sleep(GOODBYE_MS, signal)]);
    clearTimeout(timer);
  }
}
