// What the entry and the background process send each other: frames of a type, a length and a payload. Both ends
// come from the same build, or at least have the same protocol number.

/** Changes with every incompatible change to the frames or the hello. */
export const PROTOCOL = 1;

/** The types of frames. */
export const FRAME = {
  /** Both ways: the host's bytes as they come, or whole messages for the host behind a `Receipt`. */
  data: 0x44, // D

  // From the entry.
  /** A fresh random value for the background process to sign. */
  greeting: 0x47, // G
  hello: 0x48, // H
  /** The values of the variables that were asked for. */
  values: 0x56, // V
  /** The host sends nothing more, but still reads. */
  finished: 0x46, // F
  /** The host is gone, or a signal tells the entry to stop. */
  stop: 0x54, // T
  reload: 0x52, // R

  // From the background process.
  proof: 0x50, // P
  /** The names of the variables it needs. */
  names: 0x4e, // N
  /** The session is open. */
  accepted: 0x4b, // K
  refused: 0x58, // X
  /** Bytes for stderr. */
  log: 0x4c, // L
  /** What a new background process needs to continue the session. */
  snapshot: 0x53, // S
  /** The background process stops on purpose. */
  leaving: 0x57, // W
  /** The session is over: the entry's exit status. */
  end: 0x45, // E
} as const;

export type FrameType = (typeof FRAME)[keyof typeof FRAME];

const HEADER_BYTES = 5;
/** A longer frame means that the other side isn't ours. */
const MOST_BYTES = 1 << 30;

export function frameHeader(type: FrameType, length: number): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header[0] = type;
  header.writeUInt32BE(length, 1);
  return header;
}

/** A whole frame. A value becomes JSON. */
export function frameOf(type: FrameType, content: Buffer | object | string = ''): Buffer {
  const payload = Buffer.isBuffer(content)
    ? content
    : Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
  return Buffer.concat([frameHeader(type, payload.length), payload]);
}

/** The host's bytes in a frame. They are copied, so that the caller can reuse its buffer. */
export function dataFrame(bytes: Uint8Array): { readonly frame: Buffer; readonly copy: Buffer } {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes.length);
  frame[0] = FRAME.data;
  frame.writeUInt32BE(bytes.length, 1);
  frame.set(bytes, HEADER_BYTES);
  return { frame, copy: frame.subarray(HEADER_BYTES) };
}

/** Messages for the host behind a receipt: a whole frame, for messages that aren't large. */
export function messageFrame(receipt: Receipt, messages: string): Buffer {
  const ids = formatIds(receipt);
  const idBytes = Buffer.byteLength(ids);
  const start = HEADER_BYTES + RECEIPT_BYTES + idBytes;
  const messageBytes = Buffer.byteLength(messages);
  const frame = Buffer.allocUnsafe(start + messageBytes);
  frame[0] = FRAME.data;
  frame.writeUInt32BE(RECEIPT_BYTES + idBytes + messageBytes, 1);
  writeReceipt(frame, HEADER_BYTES, receipt.readBytes, ids, idBytes);
  frame.write(messages, start);
  return frame;
}

/** Cuts a stream of bytes into frames. */
export class FrameReader {
  readonly #onFrame: (type: number, payload: Buffer) => void;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Of the frame that has begun, with its header. */
  #needed = HEADER_BYTES;

  /** `onFrame` is called within `push`. */
  constructor(onFrame: (type: number, payload: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  /** Throws if this can't be a frame. */
  push(chunk: Buffer): void {
    if (this.#bytes > 0) {
      this.#pieces.push(chunk);
      this.#bytes += chunk.length;
      if (this.#bytes < this.#needed) return;
    }
    // A large frame arrives in many pieces, so they are joined once.
    let rest = this.#bytes > 0 ? Buffer.concat(this.#pieces) : chunk;
    this.#pieces = [];
    this.#bytes = 0;
    this.#needed = HEADER_BYTES;
    while (rest.length >= HEADER_BYTES) {
      const length = rest.readUInt32BE(1);
      if (length > MOST_BYTES) throw new Error(`A frame claims to have ${length} bytes.`);
      const end = HEADER_BYTES + length;
      if (rest.length < end) {
        this.#needed = end;
        break;
      }
      const frame = rest;
      rest = rest.subarray(end);
      this.#onFrame(frame[0] ?? 0, frame.subarray(HEADER_BYTES, end));
    }
    if (rest.length === 0) return;
    this.#pieces = [rest];
    this.#bytes = rest.length;
  }
}

/**
 * Sent along with messages for the host: what the background process has done with the host's input. If it's killed,
 * the entry knows from the receipts which requests have no response.
 */
export interface Receipt {
  /** All bytes of the host up to here have been read. */
  readonly readBytes: number;
  /** Requests among them that have no response yet: their ids as JSON. */
  readonly opened: readonly string[];
  /** Earlier requests whose responses are in this frame. */
  readonly closed: readonly string[];
}

const RECEIPT_BYTES = 10;

/** The first part of a data frame's payload. */
export function encodeReceipt(receipt: Receipt): Buffer {
  const ids = formatIds(receipt);
  const idBytes = Buffer.byteLength(ids);
  const bytes = Buffer.allocUnsafe(RECEIPT_BYTES + idBytes);
  writeReceipt(bytes, 0, receipt.readBytes, ids, idBytes);
  return bytes;
}

function formatIds({ opened, closed }: Receipt): string {
  return opened.length + closed.length === 0 ? '' : JSON.stringify([opened, closed]);
}

function writeReceipt(
  to: Buffer,
  at: number,
  readBytes: number,
  ids: string,
  idBytes: number,
): void {
  to.writeUIntBE(readBytes, at, 6);
  to.writeUInt32BE(idBytes, at + 6);
  if (idBytes > 0) to.write(ids, at + RECEIPT_BYTES);
}

/** The receipt, and the messages behind it. */
export function decodeReceipt(payload: Buffer): { receipt: Receipt; messages: Buffer } {
  const readBytes = payload.readUIntBE(0, 6);
  const idBytes = payload.readUInt32BE(6);
  const end = RECEIPT_BYTES + idBytes;
  const [opened, closed] =
    idBytes === 0
      ? [[], []]
      : (JSON.parse(payload.toString('utf8', RECEIPT_BYTES, end)) as [string[], string[]]);
  return { receipt: { readBytes, opened, closed }, messages: payload.subarray(end) };
}
