// Outgoing messages. All that are sent in one turn of the event loop share one write: a system call costs
// more than everything else we do to a small message.
import type { Writable } from 'node:stream';
import { guard } from '../base/guard.ts';
import { encodeMessage, type Framing } from './framing.ts';

/** Larger messages are written at once: joining them with others would copy them. */
const LARGE_CHARS = 65_536;
const LINE_END = Buffer.from('\n');

export class Outbox {
  readonly #stream: Writable;
  readonly #write: Writable['write'];
  readonly #flushLater: () => void;
  #waiting: string[] = [];

  /** `write` is the stream's original method, if `stream.write` has been replaced. */
  constructor(
    stream: Writable,
    onThrow: (error: unknown) => void,
    write = stream.write.bind(stream),
  ) {
    this.#stream = stream;
    this.#write = write;
    this.#flushLater = guard(onThrow, () => this.#flush());
  }

  send(json: string, framing: Framing): void {
    if (this.#waiting.length === 0) process.nextTick(this.#flushLater);
    this.#waiting.push(encodeMessage(json, framing));
    if (json.length > LARGE_CHARS) this.#flush();
  }

  /** A large message without line breaks, as one line. */
  sendPieces(json: readonly Buffer[], write = this.#writeAll): void {
    this.#flush();
    if (!this.#stream.writable) return;
    write([...json, LINE_END]);
  }

  /** Bytes that were sent and that the other side hasn't read. */
  get unreadBytes(): number {
    return this.#stream.writableLength;
  }

  readonly #writeAll = (pieces: readonly Buffer[]): void => {
    this.#stream.cork(); // one system call for many of them
    for (const piece of pieces) this.#write(piece);
    this.#stream.uncork();
  };

  /** Node allocates three bytes per character for UTF-8 strings, so encode them here. */
  #writeLarge(text: string): void {
    const isAscii = Buffer.byteLength(text) === text.length;
    if (isAscii) this.#write(text, 'latin1');
    else this.#write(Buffer.from(text));
  }

  #flush(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    if (!this.#stream.writable) return;
    const text = waiting.length === 1 ? (waiting[0] ?? '') : waiting.join('');
    if (text.length < LARGE_CHARS) this.#write(text);
    else this.#writeLarge(text);
  }
}
