// Finds text that a definition carries in encoded form: a model can decode it, and a person who reads the definition
// can't.
import { excerpt } from '../../base/text.ts';
import type { Words } from '../changes/words.ts';
import type { Finding } from './finding.ts';
import { hasOrder } from './orders.ts';

interface Decoded {
  readonly form: string;
  readonly text: string;
}

const LONGEST_QUOTE = 120;

export function findPayloads(words: Words): Finding[] {
  return words.flatMap(([where, text]) => {
    const found = new Map<string, Finding>();
    for (const decoded of decodings(text)) {
      const severity = judge(decoded);
      if (!severity) continue;
      const detail = `Contains encoded text (${decoded.form}): "${excerpt(decoded.text, LONGEST_QUOTE)}"`;
      found.set(detail, { rule: 'payload', severity, where, detail });
    }
    return [...found.values()];
  });
}

const COMMAND = /\b(?:curl|wget|bash|powershell|eval|sudo|chmod|base64|nc)\b|\brm -|https?:\/\//i;
/** Words that examples such as "Hello world, this is a test" don't need. */
const MANY_WORDS = 6;
const SOME_WORDS = 3;

/** Undefined for an honest example. */
function judge({ text, form }: Decoded): Finding['severity'] | undefined {
  if (TURNED.has(form) || hasOrder(text)) return hasOrder(text) ? 'hard' : undefined;
  if (!isReadable(text)) return undefined;
  const words = text.match(/[\p{L}']{2,}/gu)?.length ?? 0;
  if (words >= MANY_WORDS || (words >= SOME_WORDS && COMMAND.test(text))) return 'hard';
  return words >= SOME_WORDS && form !== 'Base64'
    ? 'hard'
    : words >= SOME_WORDS
      ? 'soft'
      : undefined;
}

/** Mostly letters and spaces, and nothing unprintable. */
function isReadable(text: string): boolean {
  if (text.length < 8 || /[^\P{C}\t\r\n]|\ufffd/u.test(text)) return false;
  const plain = text.match(/[\p{L}\s]/gu)?.length ?? 0;
  return plain / text.length >= 0.7;
}

/** Forms that turn any text into another, so only orders count. */
const TURNED = new Set(['ROT13', 'reversed']);

function* decodings(text: string): Generator<Decoded> {
  yield* base64(text);
  yield* hex(text);
  // A few escapes are honest: in a URL, a pattern or an example.
  yield* escapes(text, 'percent-encoding', /%([0-9a-f]{2})/gi);
  yield* escapes(text, 'escapes', /\\u00([0-9a-f]{2})|\\x([0-9a-f]{2})|\\u\{([0-9a-f]{1,4})\}/gi);
  yield* escapes(text, 'HTML entities', /&#x([0-9a-f]{2,4});/gi);
  yield* escapes(text, 'HTML entities', /&#(\d{2,4});/g, 10);
  yield { form: 'ROT13', text: text.replaceAll(/[a-z]/gi, rotate) };
  yield { form: 'reversed', text: text.split('').toReversed().join('') };
}

function* base64(text: string): Generator<Decoded> {
  // Only one way to read the white space: with two, many line breaks would take minutes.
  const joined = text.replaceAll(
    /(?<=[A-Za-z0-9+/_-]{16})[^\S\n]*\n\s*(?=[A-Za-z0-9+/_-]{4})/g,
    '',
  );
  for (const [run] of joined.matchAll(/[A-Za-z0-9+/_-]{16,}={0,2}/g)) {
    const decoded = decodeUtf8(Buffer.from(run, 'base64'));
    if (decoded !== undefined) yield { form: 'Base64', text: decoded };
  }
}

function* hex(text: string): Generator<Decoded> {
  const runs = [
    ...text.matchAll(/(?:[0-9a-f]{2}){8,}/gi),
    ...text.matchAll(/(?:(?:0x)?[0-9a-f]{2}[\s:,]{1,2}){7,}(?:0x)?[0-9a-f]{2}/gi),
  ];
  for (const [run] of runs) {
    const bytes = Buffer.from(run.replaceAll(/0x|[\s:,]/gi, ''), 'hex');
    // Words before it, such as "add", may look like hex themselves.
    const decoded = decodeUtf8(bytes) ?? longestPlain(bytes);
    if (decoded !== undefined) yield { form: 'hex', text: decoded };
  }
}

const FEWEST_ESCAPES = 8;

function* escapes(text: string, form: string, pattern: RegExp, radix = 16): Generator<Decoded> {
  let letters = 0;
  const decoded = text.replaceAll(pattern, (whole: string, ...groups: unknown[]) => {
    const digits = groups.slice(0, -2).find((group) => typeof group === 'string');
    const character = String.fromCodePoint(Number.parseInt(String(digits), radix) || 0);
    if (/[A-Za-z]/.test(character)) letters++;
    return character === '\0' ? whole : character;
  });
  if (letters >= FEWEST_ESCAPES) yield { form, text: decoded };
}

function longestPlain(bytes: Buffer): string | undefined {
  const parts = bytes.toString('latin1').match(/[\t\n\r\x20-\x7e]{8,}/g) ?? [];
  return parts.sort((one, other) => other.length - one.length)[0];
}

/** Undefined if the bytes aren't text. */
function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function rotate(letter: string): string {
  const first = letter <= 'Z' ? 65 : 97;
  return String.fromCodePoint(((letter.charCodeAt(0) - first + 13) % 26) + first);
}
