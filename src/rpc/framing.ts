// The two framings, what a framer reports, and how a message is written. `framer.ts` does the reading.
import { toLine, toOneLine } from './one-line.ts';
import type { ExceededLimit, ShapeLimits } from './shape.ts';

/** One JSON text per line, or after a `Content-Length` header. */
export type Framing = 'newline' | 'content-length';

/** One message or batch. */
export interface MessageEvent {
  /** The JSON text as it came, without surrounding text. May contain line breaks. */
  readonly text: string;
  /** An object, or an array (a batch, possibly empty). */
  readonly value: unknown;
  readonly framing: Framing;
}

/**
 * `not-an-object`: valid JSON but not a message (a scalar, or a pretty-printed object without JSON-RPC members).
 */
export type BrokenReason = 'invalid-json' | 'not-an-object' | 'missing-content-length';

/** Something that was meant as a message but isn't valid. */
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
  /** False while it's still arriving: reported when it passes the limit, and at each further multiple. */
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

/**
 * Escapes everything beyond ASCII, for readers that count characters instead of bytes. In JSON only strings contain
 * such characters.
 */
export function toAscii(json: string): string {
  return json.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The JSON text as it's written to the wire. */
export function encodeMessage(json: string, framing: Framing): string {
  if (framing === 'newline') return toLine(json);
  const body = toOneLine(json);
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
