// The host's input that no background process has read, and the requests that have no response. The input is parsed
// only after a background process has died: each of these requests then gets one error.

import type { Receipt } from '../background/frames.ts';
import { isObject } from '../base/object.ts';
import { DEFAULTS } from '../config/defaults.ts';
import { Framer } from '../rpc/framer.ts';
import { encodeMessage, type Framing, type MessageEvent } from '../rpc/framing.ts';
import { errorText, INTERNAL_ERROR, isId, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';

export class OpenRequests {
  /** Input that hasn't been read, oldest first. */
  #input: Buffer[] = [];
  /** Bytes of the host before it. */
  #readBytes = 0;
  /** Requests that were read: their ids as JSON, by what they are compared with. */
  readonly #open = new Map<string, string[]>();

  /** The host has sent this. */
  add(chunk: Buffer): void {
    this.#input.push(chunk);
  }

  /** The background process has read this, and responded to that. */
  note({ readBytes, opened, closed }: Receipt): void {
    while (this.#readBytes < readBytes) {
      const [first] = this.#input;
      if (!first) break;
      const read = readBytes - this.#readBytes;
      if (read < first.length) this.#input[0] = first.subarray(read);
      else this.#input.shift();
      this.#readBytes += Math.min(read, first.length);
    }
    for (const id of opened) this.#addOpen(id);
    for (const id of closed) this.#removeOpen(id);
  }

  /** An error for every request without a response. What remains is the beginning of a message. */
  take(reason: string, framing: Framing): Buffer[] {
    const errors: Buffer[] = [];
    const error = new RpcError(INTERNAL_ERROR, reason);
    for (const ids of this.#open.values()) {
      for (const id of ids) errors.push(encode(errorText(id, error), framing));
    }
    this.#open.clear();
    const input = Buffer.concat(this.#input);
    const framer = new Framer({
      limitBytes: Infinity,
      shape: DEFAULTS.messageShape,
      headers: 'any',
      onMessage: (message) => {
        const text = answerFor(message, error);
        if (text !== undefined) errors.push(encode(text, message.framing));
      },
      // The host's other output was never answered, or will not be missed.
      onNoise: () => {},
      onBroken: () => {},
      onOversize: () => {},
    });
    framer.push(input);
    const rest = input.subarray(framer.settledBytes);
    this.#input = rest.length > 0 ? [rest] : [];
    this.#readBytes = 0;
    return errors;
  }

  /** Input that the next background process has to read. */
  get input(): readonly Buffer[] {
    return this.#input;
  }

  #addOpen(id: string): void {
    const key = keyOf(id);
    const ids = this.#open.get(key);
    if (ids) ids.push(id);
    else this.#open.set(key, [id]);
  }

  #removeOpen(id: string): void {
    const key = keyOf(id);
    const ids = this.#open.get(key);
    if (ids && ids.length > 1) ids.shift();
    else this.#open.delete(key);
  }
}

/** Ids that can be written in only one way, which nearly all are. */
const PLAIN_ID = /^(?:\d{1,15}|"[ !#-[\]-~]*")$/;

/** A long number can be written in several ways. */
function keyOf(id: string): string {
  return PLAIN_ID.test(id) ? id : JSON.stringify(JSON.parse(id));
}

function encode(json: string, framing: Framing): Buffer {
  return Buffer.from(encodeMessage(json, framing));
}

/** Undefined for notifications, and for responses to questions of ours. */
function answerFor({ text, value }: MessageEvent, error: RpcError): string | undefined {
  const message = new Verbatim(text, value);
  if (!Array.isArray(value)) return errorFor(message, error);
  const answers = message.elements().flatMap((one) => errorFor(one, error) ?? []);
  return answers.length > 0 ? `[${answers.join(',')}]` : undefined;
}

function errorFor(message: Verbatim, error: RpcError): string | undefined {
  const { value } = message;
  if (!isObject(value) || value['method'] === undefined || !isId(value['id'])) return undefined;
  return errorText(message.member('id')?.text ?? 'null', error);
}
