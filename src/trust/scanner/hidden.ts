// Finds text hidden in characters nobody sees, and decodes it to show what was hidden.
import { cleanText, excerpt, hiddenIn } from '../../base/text.ts';
import type { Words } from '../changes/words.ts';
import type { Finding } from './finding.ts';

/**
 * Characters that hide or reorder text: zero-width and bidirectional marks, tags, fillers, variation selectors and
 * the start of terminal sequences. Other hidden characters, such as soft hyphens, carry nothing.
 */
const CARRIER =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- finding them is the point
  /[\u001b\u009b\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\u{e0000}-\u{e0fff}]/u;

const LONGEST_QUOTE = 120;

export function findHidden(words: Words): Finding[] {
  return words.flatMap(([where, text]) => {
    const hidden = hiddenIn(text).filter(({ at, character }) => !isHarmless(at, character));
    if (hidden.length === 0) return [];
    const characters = hidden.map(({ character }) => character);
    const severity = characters.some((one) => CARRIER.test(one)) ? 'hard' : 'soft';
    return [{ rule: 'hidden', severity, where, detail: describe(characters) } as const];
  });
}

/** Line ends from Windows, and a byte order mark at the start. */
function isHarmless(at: number, character: string): boolean {
  return character === '\r' || (character === '\ufeff' && at === 0);
}

function describe(characters: readonly string[]): string {
  const codes = [...new Set(characters.map(codeOfCharacter))];
  const more = codes.length > 4 ? ' …' : '';
  const what = `Hidden characters: ${characters.length} (${codes.slice(0, 4).join(', ')}${more})`;
  const decoded = decodeHidden(characters);
  return decoded === undefined ? `${what}.` : `${what}, which say: "${decoded}".`;
}

function codeOfCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The text that tags, variation selectors or zero-width bits spell; undefined if they spell none. */
function decodeHidden(characters: readonly string[]): string | undefined {
  const codes = characters.map((character) => character.codePointAt(0) ?? 0);
  const tags = codes.filter((code) => code >= 0xe0020 && code <= 0xe007e);
  const decoded = [
    String.fromCodePoint(...tags.slice(0, LONGEST_QUOTE).map((code) => code - 0xe0000)),
    toText(codes.flatMap(byteOfSelector)),
    toText(toBytes(codes)),
  ];
  const text = decoded.map((one) => cleanText(one).trim()).find((one) => /\w{3}/.test(one));
  return text === undefined ? undefined : excerpt(text, LONGEST_QUOTE);
}

/** Each of the 256 variation selectors can stand for a byte. */
function byteOfSelector(code: number): number[] {
  if (code >= 0xfe00 && code <= 0xfe0f) return [code - 0xfe00];
  return code >= 0xe0100 && code <= 0xe01ef ? [code - 0xe0100 + 16] : [];
}

const ZERO_WIDTH = new Set([0x200b, 0x200c, 0x200d, 0x2060, 0xfeff]);

/** Two zero-width characters can stand for bits; the lower code is taken for 0. */
function toBytes(codes: readonly number[]): number[] {
  const bits = codes.filter((code) => ZERO_WIDTH.has(code));
  const kinds = [...new Set(bits)].sort((a, b) => a - b);
  if (kinds.length !== 2) return [];
  const bytes: number[] = [];
  for (let at = 0; at + 8 <= bits.length; at += 8) {
    const byte = bits.slice(at, at + 8).map((bit) => (bit === kinds[0] ? '0' : '1'));
    bytes.push(Number.parseInt(byte.join(''), 2));
  }
  return bytes;
}

function toText(bytes: readonly number[]): string {
  return Buffer.from(bytes.slice(0, 4 * LONGEST_QUOTE)).toString('utf8');
}
