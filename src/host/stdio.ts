// A host that has started us and talks over our stdin and stdout.
import type { Readable, Writable } from 'node:stream';
import { Framer } from '../rpc/framer.ts';
import type { BrokenEvent, Framing, MessageEvent, OversizeEvent } from '../rpc/framing.ts';
import { Outbox } from '../rpc/outbox.ts';

export interface HostListener {
  receive(message: MessageEvent): void;
  receiveBroken(event: BrokenEvent): void;
  receiveOversize(event: OversizeEvent): void;
}

export interface StdioOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** How to write to it, where its own way has been given away to others. */
  readonly write?: Writable['write'];
  readonly messageBytes: number;
  /** The host does not take what we have written. */
  readonly onFull: () => void;
  /** It has taken all of it. */
  readonly onDrained: () => void;
}

/** Unread output beyond this is not added to: children wait until the host reads again. */
const MOST_UNREAD_BYTES = 4 << 20;
/** Beyond this the host is hardly read either: it asks without listening. */
const MOST_UNREAD_WHILE_READING_BYTES = 64 << 20;
const READ_ON_MS = 1_000;

export class StdioHost {
  /** Resolves when the host takes no more answers; one that only sends nothing more still does. */
  readonly gone: Promise<void>;
  readonly #options: StdioOptions;
  readonly #outbox: Outbox;
  #isFull = false;

  constructor(options: StdioOptions) {
    this.#options = options;
    this.#outbox = new Outbox(options.output, options.write);
    const { input, output } = options;
    this.gone = new Promise((resolve) => {
      // A broken pipe: there is nothing to read either.
      output.on('error', () => {
        input.destroy();
        resolve();
      });
      input.once('close', () => {
        if (!input.readableEnded) resolve();
      });
    });
    output.on('drain', () => this.#goOn());
  }

  send(json: string, framing: Framing): void {
    this.#outbox.send(json, framing);
    const { unreadBytes } = this.#outbox;
    if (unreadBytes > MOST_UNREAD_WHILE_READING_BYTES) this.#slowDown();
    if (unreadBytes <= MOST_UNREAD_BYTES || this.#isFull) return;
    this.#isFull = true;
    this.#options.onFull();
  }

  /** Hands on what the host sends; resolves when it sends nothing more. */
  listen(listener: HostListener): Promise<void> {
    const { input, messageBytes } = this.#options;
    const framer = new Framer({
      limitBytes: messageBytes,
      headers: 'any',
      onMessage: (message) => listener.receive(message),
      onNoise: () => {}, // not JSON at all: ignored
      onBroken: (event) => listener.receiveBroken(event),
      onOversize: (event) => listener.receiveOversize(event),
    });
    input.on('data', (chunk: Buffer) => framer.push(chunk));
    return new Promise((resolve) => {
      input.once('end', () => {
        framer.end();
        resolve();
      });
      input.once('error', () => resolve());
      input.once('close', () => resolve());
    });
  }

  /** Reads on a little now and then: the end of the input must still be noticed. */
  #slowDown(): void {
    const { input } = this.#options;
    if (input.isPaused()) return;
    input.pause();
    setTimeout(() => input.resume(), READ_ON_MS).unref();
  }

  #goOn(): void {
    this.#options.input.resume();
    if (this.#isFull) this.#options.onDrained();
    this.#isFull = false;
  }
}
