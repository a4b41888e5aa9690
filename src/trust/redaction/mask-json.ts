// Masks secrets in the strings of a JSON text. Everything else keeps its bytes: numbers, order, whitespace. The result is
// always JSON, and so is JSON inside its strings, which many servers return as text.
import { replaceSpans } from '../../base/search.ts';
import { MASK } from '../../base/tokens.ts';
import { endOfString } from '../../rpc/verbatim.ts';
import { CONFIGURED, type FoundSecret, type JsonSecrets, type SecretFinder } from './finder.ts';

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

export function maskJson(
  text: string,
  finder: SecretFinder,
  secrets: JsonSecrets = finder.findIn(text),
  level = 0,
): string {
  if (secrets.kinds.length === 0) return text;
  const found = secrets.found.toSorted((a, b) => a.at - b.at);
  let masked = '';
  let copied = 0;
  let first = 0; // of the secrets that end after the string's start
  let start = text.indexOf('"');
  while (start !== -1) {
    const end = endOfString(text, start);
    while ((found[first]?.end ?? Infinity) <= start) first++;
    const isFound = (found[first]?.at ?? Infinity) < end;
    if (end - start >= SHORTEST && (isFound || secrets.isEscaped)) {
      const written = text.slice(start + 1, end - 1);
      const inside = isFound ? secretsInside(found, first, start + 1, end - 1) : [];
      const isEscaped = secrets.isEscaped && finder.isEscaped(written);
      const safe = maskString(written, inside, isEscaped, finder, level);
      if (safe !== written) {
        masked += text.slice(copied, start + 1) + safe;
        copied = end - 1;
      }
    }
    start = text.indexOf('"', end);
  }
  return copied === 0 ? text : masked + text.slice(copied);
}

/** The secrets in one string, relative to it. */
function secretsInside(
  found: readonly FoundSecret[],
  first: number,
  start: number,
  end: number,
): FoundSecret[] {
  const inside: FoundSecret[] = [];
  for (let index = first; index < found.length; index++) {
    const secret = found[index] as FoundSecret;
    if (secret.at >= end) break;
    inside.push({ ...secret, at: secret.at - start, end: secret.end - start });
  }
  return inside;
}

/** Gets and returns the string as written between the quotes. */
function maskString(
  written: string,
  inside: readonly FoundSecret[],
  isEscaped: boolean,
  finder: SecretFinder,
  level: number,
): string {
  if (PROTOCOL.has(written) || (inside.length === 0 && !isEscaped)) return written;
  if (!isEscaped) {
    const mayBeJson = /^(?:\s|\\[nrt])*[[{]/.test(written);
    const isSimple = inside.every((secret) => isReplaceable(written, secret, mayBeJson));
    if (isSimple) return replaceSpans(written, inside, MASK);
  }
  const value = JSON.parse(`"${written}"`) as string;
  const secrets = finder.findIn(value);
  if (secrets.kinds.length === 0) return written;
  const safe =
    level < MOST_LEVELS && isJson(value)
      ? maskJson(value, finder, secrets, level + 1)
      : replaceSpans(value, secrets.found, MASK);
  return safe === value ? written : JSON.stringify(safe).slice(1, -1);
}

/**
 * Whether masking a secret leaves a string valid: no escape is part of the secret or cut by it, and neither is JSON
 * inside the string. There, a configured value may be a number, and a token is always in a string.
 */
function isReplaceable(written: string, secret: FoundSecret, mayBeJson: boolean): boolean {
  const { at, end, isWord, name } = secret;
  if (!isWord && (name !== CONFIGURED || mayBeJson)) return false;
  return (
    at >= 0 &&
    end <= written.length &&
    !/\\(?:u[0-9a-fA-F]{0,3})?$/.test(written.slice(Math.max(0, at - 5), at)) &&
    !written.slice(at, end).includes('\\')
  );
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
