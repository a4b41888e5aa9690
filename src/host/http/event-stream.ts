// A response that is a stream of events, one message each. It sends keep-alives, and is closed if the client
// doesn't read it.
import type { ServerResponse } from 'node:http';
import { guard } from '../../base/guard.ts';
import type { Log } from '../../base/log.ts';
import { toLine } from '../../rpc/one-line.ts';
import { reportBug } from './report-bug.ts';
import { endInTime } from './response.ts';

export interface StreamOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly keepAliveMs: number;
  readonly log: Log;
  /** Called after each write, because the client may not be reading. */
  readonly onWritten: (response: ServerResponse) => void;
}

/** Unread output beyond this closes the stream. */
const MOST_UNREAD_BYTES = 4 << 20;

export class EventStream {
  readonly #response: ServerResponse;
  readonly #log: Log;
  readonly #onWritten: StreamOptions['onWritten'];
  readonly #beat: NodeJS.Timeout;

  constructor(response: ServerResponse, { headers, keepAliveMs, log, onWritten }: StreamOptions) {
    this.#response = response;
    this.#log = log;
    this.#onWritten = onWritten;
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no', // keeps proxies from buffering
      'x-content-type-options': 'nosniff',
      ...headers,
    });
    response.flushHeaders();
    const beat = guard(reportBug(log), () => this.#write(': keep-alive\n\n'));
    this.#beat = setInterval(beat, keepAliveMs).unref();
    response.once('close', () => clearInterval(this.#beat));
  }

  get isOpen(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded;
  }

  /** Sends an event without a message, from whose id the stream can be resumed. */
  prime(id: string): void {
    this.#write(`id: ${id}\ndata:\n\n`);
  }

  send(json: string, id?: string): void {
    this.#write(`${id === undefined ? '' : `id: ${id}\n`}data: ${toLine(json)}\n`);
  }

  end(): void {
    clearInterval(this.#beat);
    if (this.isOpen) endInTime(this.#response);
  }

  #write(text: string): void {
    if (!this.isOpen) return;
    if (this.#response.writableLength > MOST_UNREAD_BYTES) {
      this.#log.error('an HTTP client left too much unread: its stream was closed.');
      this.#response.destroy();
      return;
    }
    this.#response.write(text);
    this.#onWritten(this.#response);
  }
}
