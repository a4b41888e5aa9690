// Discards a message beyond the size limit while it arrives. Keeps its head and tail, which is enough to find the
// request it answers, so only that one fails.
import type { FramerEvents, Framing, OversizeEvent } from './framing.ts';
import { parseJson } from './json-text.ts';
import type { TooComplex } from './shape.ts';

const KEPT_BYTES = 4 * 1024;

export interface DrainOptions {
  readonly limitBytes: number;
  readonly framing: Framing;
  readonly onOversize: FramerEvents['onOversize'];
}

/** Counts the bytes of one message that is being discarded, and reports as it grows. */
export class OversizeDrain {
  readonly #options: DrainOptions;
  readonly #head = Buffer.alloc(KEPT_BYTES);
  /** The last bytes. Twice the size needed, so that the older half is dropped only now and then. */
  readonly #tail = Buffer.alloc(2 * KEPT_BYTES);
  #tailLength = 0;
  #bytes = 0;
  #nextReport: number;

  constructor(options: DrainOptions) {
    this.#options = options;
    this.#nextReport = options.limitBytes;
  }

  feed(bytes: Buffer): void {
    if (this.#bytes < KEPT_BYTES) bytes.copy(this.#head, this.#bytes);
    this.#bytes += bytes.length;
    this.#keepTail(bytes.length > KEPT_BYTES ? bytes.subarray(-KEPT_BYTES) : bytes);
    if (this.#bytes <= this.#nextReport) return;
    const limit = Math.max(1, this.#options.limitBytes);
    this.#nextReport += Math.ceil((this.#bytes - this.#nextReport) / limit) * limit;
    this.#report();
  }

  finish(): void {
    const from = Math.max(0, this.#tailLength - KEPT_BYTES);
    this.#report(this.#tail.toString('utf8', from, this.#tailLength));
  }

  #keepTail(bytes: Buffer): void {
    if (this.#tailLength + bytes.length > this.#tail.length) {
      this.#tail.copyWithin(0, this.#tailLength - KEPT_BYTES, this.#tailLength);
      this.#tailLength = KEPT_BYTES;
    }
    bytes.copy(this.#tail, this.#tailLength);
    this.#tailLength += bytes.length;
  }

  #report(tail?: string): void {
    this.#options.onOversize({
      limit: { name: 'messageBytes', most: this.#options.limitBytes },
      bytesSoFar: this.#bytes,
      head: this.#head.toString('utf8', 0, Math.min(this.#bytes, KEPT_BYTES)),
      tail,
      complete: tail !== undefined,
      framing: this.#options.framing,
    });
  }
}

/** The report on a message that has arrived completely. */
export function oversizeEvent(limit: TooComplex, framing: Framing): OversizeEvent {
  const { bytes: bytesSoFar, head, tail } = limit;
  return { limit, bytesSoFar, head, tail, complete: true, framing };
}

export interface OversizeId {
  readonly id: string | number;
  readonly kind: 'request' | 'response';
}

const ID = String.raw`"(?:[^"\\]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?|null`;
const HEAD_START = /\s*\{\s*/y;
const HEAD_MEMBER = new RegExp(
  String.raw`"(?:jsonrpc"\s*:\s*"2\.0"|id"\s*:\s*(?<id>${ID})|(?<method>method)"\s*:\s*"(?:[^"\\]|\\.)*")\s*,\s*`,
  'y',
);
const HEAD_PAYLOAD = /"(?<key>result|error|params)"\s*:/y;
const TAIL = new RegExp(
  String.raw`,\s*"id"\s*:\s*(?<id>${ID})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`,
);

/**
 * The id of a message of which only the head and tail are known. It must be among the short members before the
 * payload, or be the last member except for `jsonrpc`. In both places, nothing in the payload can be mistaken for
 * it.
 */
export function idFromOversize(head: string, tail: string | undefined): OversizeId | undefined {
  const begin = readHead(head);
  if (!begin) return undefined;
  const idText = begin.idText ?? (tail && TAIL.exec(tail)?.groups?.['id']);
  const id = idText ? parseJson(idText) : undefined;
  if (typeof id !== 'string' && typeof id !== 'number') return undefined;
  return { id, kind: begin.kind };
}

/** The members before the payload; undefined if it doesn't start like a message. */
function readHead(
  head: string,
): { idText: string | undefined; kind: OversizeId['kind'] } | undefined {
  let at = matchAt(HEAD_START, head, head.startsWith('\ufeff') ? 1 : 0)?.end;
  let idText: string | undefined;
  let hasMethod = false;
  while (at !== undefined) {
    const payload = matchAt(HEAD_PAYLOAD, head, at);
    if (payload) {
      const isRequest = hasMethod || payload.groups['key'] === 'params';
      return { idText, kind: isRequest ? 'request' : 'response' };
    }
    const member = matchAt(HEAD_MEMBER, head, at);
    idText ??= member?.groups['id'];
    hasMethod ||= member?.groups['method'] !== undefined;
    at = member?.end;
  }
  return hasMethod ? { idText, kind: 'request' } : undefined;
}

function matchAt(
  pattern: RegExp,
  text: string,
  at: number,
): { end: number; groups: Record<string, string | undefined> } | undefined {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match ? { end: pattern.lastIndex, groups: match.groups ?? {} } : undefined;
}
