// A host on the other end of a pair of streams: it started us, and talks over our stdin and stdout.
import type { Readable, Writable } from 'node:stream';
import { guard } from '../base/guard.ts';
import { Framer } from '../rpc/framer.ts';
import type {
  BrokenEvent,
  Framing,
  MessageEvent,
  OversizeEvent,
  ReadLimits,
} from '../rpc/framing.ts';
import { Outbox } from '../rpc/outbox.ts';

export interface HostListener {
  receive(message: MessageEvent): void;
  receiveBroken(event: BrokenEvent): void;
  receiveOversize(event: OversizeEvent): void;
}

export interface StdioOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** How to write to it, if `output.write` was replaced. */
  readonly write?: Writable['write'];
  /** Writes one message in pieces; by default, they are simply written. */
  readonly writePieces?: (pieces: readonly Buffer[]) => void;
  /** Read for each message, since a reload may change them. */
  readonly messageLimits: ReadLimits;
  /** The host leaves too much unread. */
  readonly onFull: () => void;
  /** It has read all of it. */
  readonly onDrained: () => void;
  /** It has left so much unread that the connection was closed. */
  readonly onGivenUp: (unreadBytes: number) => void;
  /** Logs a bug in handling a message from the host. Later messages are still handled. */
  readonly onBug: (error: unknown) => void;
}

/** Beyond this, servers that work only for this host wait until it reads again. */
const MOST_UNREAD_BYTES = 4 << 20;
/** Beyond this we also slow down reading from the host: it sends requests without reading the answers. */
const MOST_UNREAD_WHILE_READING_BYTES = 64 << 20;
/** Beyond this, or four of the largest messages, the connection is closed. */
const MOST_QUEUED_BYTES = 256 << 20;
const READ_ON_MS = 1_000;

export class StdioHost {
  /** Resolves when the host accepts no more answers. A host that only closed its input still does. */
  readonly gone: Promise<void>;
  readonly #options: StdioOptions;
  readonly #outbox: Outbox;
  #resolveGone: () => void = () => {};
  #framer: Framer | undefined;
  #isFull = false;
  #isGone = false;

  constructor(options: StdioOptions) {
    const { input, output, write, onBug } = options;
    this.#options = options;
    this.#outbox = new Outbox(output, onBug, write);
    this.gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
    const broken = (): void => this.#leave();
    const closed = (): void => {
      if (!input.readableEnded) this.#leave();
    };
    output.on('error', guard(onBug, broken));
    input.once('close', guard(onBug, closed));
    output.on(
      'drain',
      guard(onBug, () => this.#goOn()),
    );
  }

  send(json: string, framing: Framing): void {
    this.#outbox.send(json, framing);
    this.#checkUnread();
  }

  /** A large message, as one line. */
  sendPieces(json: readonly Buffer[]): void {
    this.#outbox.sendPieces(json, this.#options.writePieces);
    this.#checkUnread();
  }

  /** How many of the host's bytes have been dealt with. The rest may begin a message. */
  get settledBytes(): number {
    return this.#framer?.settledBytes ?? 0;
  }

  /** Forwards what the host sends; resolves when it sends nothing more. */
  listen(listener: HostListener): Promise<void> {
    const { input, messageLimits, onBug } = this.#options;
    const framer = (this.#framer = new Framer({
      get limitBytes() {
        return messageLimits.limitBytes;
      },
      get shape() {
        return messageLimits.shape;
      },
      headers: 'any',
      onMessage: guard(onBug, (message) => listener.receive(message)),
      onNoise: () => {}, // ignored: not JSON at all
      onBroken: guard(onBug, (event) => listener.receiveBroken(event)),
      onOversize: guard(onBug, (event) => listener.receiveOversize(event)),
    }));
    const read = (chunk: Buffer): void => framer.push(chunk);
    const end = (): void => framer.end();
    input.on('data', guard(onBug, read));
    input.once('end', guard(onBug, end));
    return new Promise((resolve) => {
      input.once('end', () => resolve());
      input.once('error', () => resolve());
      input.once('close', () => resolve());
    });
  }

  #checkUnread(): void {
    const { unreadBytes } = this.#outbox;
    if (unreadBytes > MOST_UNREAD_BYTES) this.#noteUnread(unreadBytes);
  }

  #noteUnread(unreadBytes: number): void {
    const { messageLimits, onFull, onGivenUp } = this.#options;
    const mostBytes = Math.max(MOST_QUEUED_BYTES, 4 * messageLimits.limitBytes);
    if (unreadBytes > mostBytes && !this.#isGone) {
      this.#leave();
      this.#options.output.destroy();
      return onGivenUp(unreadBytes);
    }
    if (unreadBytes > MOST_UNREAD_WHILE_READING_BYTES) this.#slowDown();
    if (this.#isFull) return;
    this.#isFull = true;
    onFull();
  }

  /** Keeps reading a little now and then, to notice when the input ends. */
  #slowDown(): void {
    const { input } = this.#options;
    if (input.isPaused()) return;
    input.pause();
    setTimeout(() => input.resume(), READ_ON_MS).unref();
  }

  /** The host accepts nothing more, so there's nothing more to read from it. */
  #leave(): void {
    this.#isGone = true;
    this.#options.input.destroy();
    this.#resolveGone();
  }

  #goOn(): void {
    this.#options.input.resume();
    if (this.#isFull) this.#options.onDrained();
    this.#isFull = false;
  }
}
