// The response to one POST. It is plain JSON if the answer is all there is to say, and a stream of
// events if anything comes before; or if the answer takes its time, since clients and proxies give up
// on a response that has not begun after a while.
import type { ServerResponse } from 'node:http';
import { guard } from '../../base/guard.ts';
import { EventStream, type StreamOptions } from './event-stream.ts';
import { type Refusal, sendRefusal } from './refusal.ts';
import { reportBug } from './report-bug.ts';
import { sendJson } from './response.ts';

export interface ReplyTimes {
  /** Milliseconds between signs of life on an open stream. */
  readonly keepAliveMs: number;
  /** Milliseconds that an answer may take and still be plain JSON; undefined for any time. */
  readonly slowAnswerMs: number | undefined;
}

export interface ReplyOptions extends StreamOptions, ReplyTimes {
  /** The answer takes its time: the reply should become a stream. */
  readonly onSlow: () => void;
}

export class Reply {
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

  /** The stream, which the reply becomes by this; undefined if the client has gone before. */
  stream(): EventStream | undefined {
    clearTimeout(this.#slow);
    if (this.#stream === undefined && !this.#response.headersSent && !this.#response.destroyed) {
      this.#stream = new EventStream(this.#response, this.#options);
    }
    return this.#stream;
  }

  /** Everything at once. Only for a reply that has not become a stream. */
  json(text: string, status = 200): void {
    clearTimeout(this.#slow);
    sendJson(this.#response, status, text, this.#options.headers);
    this.#options.onWritten(this.#response);
  }

  /** There will be no more, and perhaps nothing has been. */
  end(): void {
    this.stream()?.end();
  }

  /** Ends it before it is complete. */
  breakOff(reason: Refusal): void {
    clearTimeout(this.#slow);
    if (this.#stream) this.#stream.end();
    else sendRefusal(this.#response, reason);
  }
}
