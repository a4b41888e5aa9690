// The response to one POST: plain JSON if there is only the answer, or a stream of events if anything comes before
// it. Slow answers are also streamed, because clients and proxies give up on a response that doesn't start.
import type { ServerResponse } from 'node:http';
import { guard } from '../../base/guard.ts';
import { EventStream, type StreamOptions } from './event-stream.ts';
import { type HttpRefusal, sendRefusal } from './refusal.ts';
import { reportBug } from './report-bug.ts';
import { sendJson } from './response.ts';

export interface ReplyTimes {
  /** Milliseconds between keep-alives on an open stream. */
  readonly keepAliveMs: number;
  /** Milliseconds an answer may take and still be plain JSON; undefined for no limit. */
  readonly slowAnswerMs: number | undefined;
}

export interface ReplyOptions extends StreamOptions, ReplyTimes {
  /** The answer is slow: the reply should become a stream. */
  readonly onSlow: () => void;
}

export class PostReply {
  readonly #response: ServerResponse;
  readonly #options: ReplyOptions;
  readonly #slow: NodeJS.Timeout | undefined;
  #stream: EventStream | undefined;

  constructor(response: ServerResponse, options: ReplyOptions) {
    this.#response = response;
    this.#options = options;
    const { slowAnswerMs, log } = options;
    const onSlow = guard(reportBug(log), options.onSlow);
    this.#slow = slowAnswerMs === undefined ? undefined : setTimeout(onSlow, slowAnswerMs).unref();
    response.once('close', () => clearTimeout(this.#slow));
  }

  /** Turns the reply into a stream; undefined if the client has gone. */
  stream(): EventStream | undefined {
    clearTimeout(this.#slow);
    if (this.#stream === undefined && !this.#response.headersSent && !this.#response.destroyed) {
      this.#stream = new EventStream(this.#response, this.#options);
    }
    return this.#stream;
  }

  /** Sends everything at once. Only for a reply that isn't a stream yet. */
  json(text: string, status = 200): void {
    clearTimeout(this.#slow);
    sendJson(this.#response, status, text, this.#options.headers);
    this.#options.onWritten(this.#response);
  }

  /** Ends the reply, even if nothing was sent. */
  end(): void {
    this.stream()?.end();
  }

  /** Ends the reply before it is complete. */
  breakOff(reason: HttpRefusal): void {
    clearTimeout(this.#slow);
    if (this.#stream) this.#stream.end();
    else sendRefusal(this.#response, reason);
  }
}
