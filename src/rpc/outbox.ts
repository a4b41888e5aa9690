// Messages on their way out. Those that are sent in one turn of the event loop leave in one write:
// a system call costs more than all we do to a small message.
import type { Writable } from 'node:stream';
import { guard } from '../base/guard.ts';
import { encodeMessage, type Framing } from './framing.ts';

/** A message of this size leaves at once: putting it together with others would copy it. */
const LARGE_CHARS = 65_536;

export class Outbox {
  readonly #stream: Writable;
  readonly #write: Writable['write'];
  readonly #flushLater: () => void;
  #waiting: string[] = [];

  /** `write` is the stream's own, where that has been given away to others. */
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

  /** Bytes that have been sent and that the other side has not taken. */
  get unreadBytes(): number {
    return this.#stream.writableLength;
  }

  /** For text that is written as UTF-8, Node sets three bytes aside for each character. */
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
