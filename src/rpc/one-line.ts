// Every message leaves as a single line, no matter what its reader treats as a line break. Python's text
// streams and Node's readline also split at a carriage return, Python's `splitlines` at U+0085, U+2028
// and U+2029. Sent raw, they would let the author of a call's arguments inject messages.
import { decode } from './bytes.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const ESCAPED_NEXT_LINE = Buffer.from('\\u0085');
const ESCAPED_LINE_SEPARATOR = Buffer.from('\\u2028');
const ESCAPED_PARAGRAPH_SEPARATOR = Buffer.from('\\u2029');

/** The JSON without raw line breaks. Values and number literals stay as written. */
export function toOneLine(json: string): string {
  return json.includes('\n') || hasOtherBreak(json) ? replaceBreaks(json) : json;
}

/** Like `toOneLine`, with a line feed at the end. */
export function toLine(json: string): string {
  // Searching flattens a concatenated string, so append first: large messages are then copied once.
  const line = `${json}\n`;
  const isClean = line.indexOf('\n') === json.length && !hasOtherBreak(line);
  return isClean ? line : `${replaceBreaks(json)}\n`;
}

/** Four native searches are faster than one regular expression. */
function hasOtherBreak(text: string): boolean {
  return (
    text.includes('\r') ||
    text.includes('\u0085') ||
    text.includes('\u2028') ||
    text.includes('\u2029')
  );
}

/**
 * In valid JSON, raw CR and LF occur only between tokens, where a space is equivalent, and the other three only
 * inside strings, where they can be escaped. VT, FF, FS, GS and RS are never valid. Works on bytes, because
 * replacing millions of line breaks in a string takes seconds.
 */
function replaceBreaks(json: string): string {
  const bytes = Buffer.from(json);
  let escapes = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === CARRIAGE_RETURN || byte === LINE_FEED) bytes[at] = SPACE;
    else if (findEscape(bytes, at)) escapes += 1;
  }
  return decode(escapes === 0 ? bytes : escapeBreaks(bytes, escapes));
}

function escapeBreaks(bytes: Buffer, escapes: number): Buffer {
  const escaped = Buffer.allocUnsafe(bytes.length + 4 * escapes);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const escape = findEscape(bytes, at);
    if (escape) {
      for (const byte of escape) escaped[length++] = byte;
      at += escape === ESCAPED_NEXT_LINE ? 1 : 2;
    } else escaped[length++] = bytes[at] ?? 0;
  }
  return escaped.subarray(0, length);
}

/** The escape for the line break whose UTF-8 bytes start here. */
function findEscape(bytes: Buffer, at: number): Buffer | undefined {
  const first = bytes[at];
  if (first === 0xc2) return bytes[at + 1] === 0x85 ? ESCAPED_NEXT_LINE : undefined;
  if (first !== 0xe2 || bytes[at + 1] !== 0x80) return undefined;
  if (bytes[at + 2] === 0xa8) return ESCAPED_LINE_SEPARATOR;
  return bytes[at + 2] === 0xa9 ? ESCAPED_PARAGRAPH_SEPARATOR : undefined;
}
