// The words of framing: the two ways a message travels as bytes, what a reader of bytes reports,
// and how a message is written. Reading is `framer.ts`.
import { toLine, toOneLine } from './one-line.ts';
import type { ExceededLimit, ShapeLimits } from './shape.ts';

/** One JSON text on a line of its own, or one behind a `Content-Length` header. */
export type Framing = 'newline' | 'content-length';

/** One message, or one batch of them. */
export interface MessageEvent {
  /** The JSON text as it came, without what surrounded it. May contain line breaks. */
  readonly text: string;
  /** An object, or an array (a batch, possibly empty). */
  readonly value: unknown;
  readonly framing: Framing;
}

/**
 * `not-an-object`: valid JSON, yet no message (a scalar; a pretty-printed object without any member
 * of JSON-RPC).
 */
export type BrokenReason = 'invalid-json' | 'not-an-object' | 'missing-content-length';

/** Something that was meant as a message and is none. */
export interface BrokenEvent {
  readonly reason: BrokenReason;
  readonly framing: Framing;
  /** Its first 200 characters. */
  readonly excerpt: string;
}

/** A message that exceeds a limit and is dropped. */
export interface OversizeEvent {
  readonly limit: ExceededLimit;
  readonly bytesSoFar: number;
  /** Its first 4 KiB. */
  readonly head: string;
  /** Its last 4 KiB, once it has ended. */
  readonly tail: string | undefined;
  /** False while it still goes on: told when the limit is passed, and at each further multiple. */
  readonly complete: boolean;
  readonly framing: Framing;
}

export interface FramerEvents {
  readonly onMessage: (message: MessageEvent) => void;
  /** Text between messages, such as a log line, cut to 200 characters. */
  readonly onNoise: (text: string) => void;
  readonly onBroken: (broken: BrokenEvent) => void;
  readonly onOversize: (oversize: OversizeEvent) => void;
}

/** Limits of one message. They may change between two messages. */
export interface ReadLimits {
  readonly limitBytes: number;
  readonly shape: ShapeLimits;
}

const EXCERPT_CHARS = 200;

export function formatExcerpt(text: string): string {
  return text.trim().slice(0, EXCERPT_CHARS);
}

/** The JSON text as it goes on the wire. */
export function encodeMessage(json: string, framing: Framing): string {
  if (framing === 'newline') return toLine(json);
  const body = toOneLine(json);
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
