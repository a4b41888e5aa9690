// The background process's end of the connection to an entry.
import { type Duplex, Readable, Writable } from 'node:stream';
import { guard } from '../base/guard.ts';
import { isObject } from '../base/object.ts';
import {
  encodeReceipt,
  FRAME,
  FrameReader,
  type FrameType,
  frameHeader,
  frameOf,
  messageFrame,
  type Receipt,
} from './frames.ts';
import { parsePayload, type WantedNames } from './hello.ts';

export interface LinkEvents {
  /** The host is gone, or the entry has to stop. */
  readonly onStop: () => void;
  readonly onReload: () => void;
  readonly onBug: (error: unknown) => void;
}

/** Larger messages aren't copied. */
const LARGE_CHARS = 16_384;

export class EntryLink {
  readonly stream: Duplex;
  /** The host's bytes. */
  readonly input: Readable;
  /** Written to the entry's stderr. */
  readonly errors: Writable;
  /** Resolves when the entry is gone. */
  readonly closed: Promise<void>;
  #events: LinkEvents | undefined;
  /** Events that came before anyone listened. */
  #early: ('onStop' | 'onReload')[] = [];
  #giveValues: ((values: Record<string, string> | undefined) => void) | undefined;
  readonly #reader = new FrameReader((type, payload) => this.#receive(type, payload));

  constructor(stream: Duplex, onBug: (error: unknown) => void) {
    this.stream = stream;
    this.input = new Readable({ read: () => void stream.resume() });
    this.errors = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (stream.writable) stream.write(frameOf(FRAME.log, chunk), () => done());
        else done();
      },
    });
    this.closed = new Promise((resolve) => stream.once('close', () => resolve()));
    stream.on('error', () => {}); // `close` follows
    const fail = (error: unknown): void => {
      onBug(error);
      stream.destroy();
    };
    const close = (): void => {
      this.#giveValues?.(undefined);
      // Without an end, so that it counts as a host that disconnected.
      if (!this.input.readableEnded) this.input.destroy();
    };
    stream.once('close', guard(fail, close));
    stream.on(
      'data',
      guard(fail, (chunk: Buffer) => this.#reader.push(chunk)),
    );
    stream.resume();
  }

  listen(events: LinkEvents): void {
    this.#events = events;
    for (const event of this.#early.splice(0)) events[event]();
  }

  send(type: FrameType, content?: Buffer | object | string): void {
    if (this.stream.writable) this.stream.write(frameOf(type, content));
  }

  /** Messages for the host, and what the entry should know about earlier ones. */
  sendMessages(receipt: Receipt, messages: string | Uint8Array, encoding: BufferEncoding): void {
    const { stream } = this;
    if (!stream.writable) return;
    // One write of one buffer costs less than gathering three.
    if (typeof messages === 'string' && messages.length < LARGE_CHARS) {
      stream.write(messageFrame(receipt, messages));
      return;
    }
    const head = encodeReceipt(receipt);
    const length =
      typeof messages === 'string' ? Buffer.byteLength(messages, encoding) : messages.length;
    stream.cork();
    stream.write(frameHeader(FRAME.data, head.length + length));
    stream.write(head);
    if (typeof messages === 'string') stream.write(messages, encoding);
    else stream.write(messages);
    stream.uncork();
  }

  /** A large message for the host. */
  sendPieces(receipt: Receipt, pieces: readonly Buffer[]): void {
    const { stream } = this;
    if (!stream.writable) return;
    const head = encodeReceipt(receipt);
    const length = pieces.reduce((sum, piece) => sum + piece.length, head.length);
    stream.cork();
    stream.write(frameHeader(FRAME.data, length));
    stream.write(head);
    for (const piece of pieces) stream.write(piece);
    stream.uncork();
  }

  /** Asks for the values of variables; undefined if the entry is gone. */
  askValues(names: WantedNames): Promise<Record<string, string> | undefined> {
    return new Promise((resolve) => {
      if (this.stream.destroyed) return resolve(undefined);
      this.#giveValues = (values) => {
        this.#giveValues = undefined;
        resolve(values);
      };
      this.send(FRAME.names, { names });
    });
  }

  #receive(type: number, payload: Buffer): void {
    switch (type) {
      case FRAME.data:
        if (!this.input.push(payload)) this.stream.pause();
        break;
      case FRAME.finished:
        this.input.push(null);
        break;
      case FRAME.values: {
        const { values } = parsePayload(payload) ?? {};
        this.#giveValues?.(isObject(values) ? (values as Record<string, string>) : {});
        break;
      }
      case FRAME.stop:
        this.#emit('onStop');
        break;
      case FRAME.reload:
        this.#emit('onReload');
        break;
      default:
        throw new Error(`An entry sent a frame of type ${type}.`);
    }
  }

  #emit(event: 'onStop' | 'onReload'): void {
    if (this.#events) this.#events[event]();
    else this.#early.push(event);
  }
}
