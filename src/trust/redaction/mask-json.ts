// Masks secrets in the strings of a JSON text. Everything else keeps its bytes: numbers, order, whitespace. The result is
// always JSON, and so is JSON inside its strings, which many servers return as text.
import type { Mask } from '../../base/secrets.ts';
import { endOfString } from '../../rpc/verbatim.ts';

/** Words of the protocol. A configured value that happens to be one must not break a result. */
const PROTOCOL = new Set(
  'annotations assistant audience contents description embedded_resource lastModified messages mimeType priority resource resource_link structuredContent'.split(
    ' ',
  ),
);

/** Shorter strings, with their quotes, can't contain a secret. Most keys are. */
const SHORTEST = 10;

/** How deep JSON inside strings may nest. */
const MOST_LEVELS = 3;

export function maskJson(text: string, mask: Mask, level = 0): string {
  let masked = '';
  let copied = 0;
  let start = text.indexOf('"');
  while (start !== -1) {
    const end = endOfString(text, start);
    if (end - start >= SHORTEST) {
      const written = text.slice(start + 1, end - 1);
      const safe = maskString(written, mask, level);
      if (safe !== written) {
        masked += text.slice(copied, start + 1) + safe;
        copied = end - 1;
      }
    }
    start = text.indexOf('"', end);
  }
  return copied === 0 ? text : masked + text.slice(copied);
}

/** Gets and returns the string as written between the quotes. */
function maskString(written: string, mask: Mask, level: number): string {
  const value = written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written;
  const masked = mask(value);
  if (masked === value || PROTOCOL.has(value)) return written;
  const safe = level < MOST_LEVELS && isJson(value) ? maskJson(value, mask, level + 1) : masked;
  return JSON.stringify(safe).slice(1, -1);
}

/** Whether a string contains a JSON object or array. */
function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
