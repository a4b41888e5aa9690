import { describe, expect, test } from 'vitest';
import { createCutMask, createLineMask, createMask, maskValue } from '../../../src/base/secrets.ts';
import {
  cleanText,
  excerpt,
  formatDuration,
  hasHiddenCharacters,
  nearest,
  revealHidden,
} from '../../../src/base/text.ts';

test('terminal sequences are removed whole', () => {
  expect(cleanText('\u001b[2J\u001b]0;owned\u0007\u001b]8;;http://evil\u001b\\link\u001b[0m')).toBe(
    'link',
  );
});

test('invisible characters are removed; tabs, line feeds and real letters stay', () => {
  expect(cleanText('a\u200b\u202e\u0000\u{e0041}\tb\n漢🚀é')).toBe('a\tb\n漢🚀é');
});

test.each([
  ['a zero-width space', '\u200b'],
  ['a word joiner', '\u2060'],
  ['a byte order mark', '\ufeff'],
  ['a right-to-left override', '\u202e'],
  ['a left-to-right isolate', '\u2066'],
  ['an Arabic letter mark', '\u061c'],
  ['a soft hyphen', '\u00ad'],
  ['a combining grapheme joiner', '\u034f'],
  ['a Hangul filler', '\u3164'],
  ['a half-width Hangul filler', '\uffa0'],
  ['a Khmer inherent vowel', '\u17b4'],
  ['a Mongolian vowel separator', '\u180e'],
  ['a blank Braille pattern', '\u2800'],
  ['a musical format character', '\u{1d173}'],
  ['a variation selector', '\ufe00'],
  ['an emoji selector after a letter', '\ufe0f'],
  ['a supplementary variation selector', '\u{e0100}'],
  ['a tag', '\u{e0041}'],
  ['an unassigned ignorable', '\u{e0fff}'],
  ['a control character', '\u0085'],
  ['a line separator', '\u2028'],
  ['a joiner between Latin letters', '\u200d'],
  ['a non-joiner between Latin letters', '\u200c'],
])('%s is hidden', (_, hidden) => {
  const text = `a${hidden}b`;
  expect(hasHiddenCharacters(text)).toBe(true);
  expect(cleanText(text)).toBe('ab');
  expect(revealHidden(text)).toMatch(/^a(?:\\u[0-9a-f]{4}){1,2}b$/);
});

test.each([
  ['a family', '👨‍👩‍👧‍👦'],
  ['a heart with its selector', '❤️'],
  ['a technologist with a skin tone', '👩🏽‍💻'],
  ['a rainbow flag', '🏳️‍🌈'],
  ['a key', '1️⃣'],
  ['an emoji shown as text', '☺︎'],
  ['Persian', 'می‌خواهم'],
  ['Hindi', 'क्‍ष'],
  ['Sinhala', 'ශ්‍රී'],
  ['Arabic and Hebrew', 'مرحبا שלום'],
])('%s stays unchanged', (_, text) => {
  expect(hasHiddenCharacters(`x ${text} y`)).toBe(false);
  expect(cleanText(`x ${text}\u200b y`)).toBe(`x ${text} y`);
});

test.each([
  ['❤️\ufe0f\ufe0f', '❤️'],
  ['🚀\u200d', '🚀'],
  ['🚀\u{e0101}\u{e0102}', '🚀'],
  ['م\u200c\u200cن', 'من'],
])('nothing can be hidden behind an emoji or a letter: %j', (text, clean) => {
  expect(cleanText(text)).toBe(clean);
});

test('the most likely names come first', () => {
  const names = ['browser_click', 'browser_close', 'echo', 'add'];
  expect(nearest('browser_clik', names)).toEqual(['browser_click', 'browser_close']);
  expect(nearest('click', names)[0]).toBe('browser_click');
  expect(nearest('ECHO', names)).toEqual(['echo']);
  expect(nearest('zzzzzz', names)).toEqual([]);
});

test('secrets are masked as is and inside JSON; short words are left alone', () => {
  const mask = createMask(['sk-12345678', 'tr"icky\nvalue', 'true']);
  expect(mask('token sk-12345678 is true')).toBe('token *** is true');
  expect(mask(JSON.stringify({ text: 'tr"icky\nvalue' }))).toBe('{"text":"***"}');
});

test('if one secret starts another, nothing is left over', () => {
  expect(createMask(['password', 'password-long'])('password-long')).toBe('***');
});

test('each line of a multi-line secret is masked', () => {
  const mask = createMask(['-----BEGIN KEY-----\nMIIabcdefgh\n-----END KEY-----']);
  expect(mask('MIIabcdefgh')).toBe('***');
});

test('half a secret at the end of cut text is also masked', () => {
  const mask = createCutMask(['hunter2hunter2']);
  expect(mask('token hunter2hunter2 and hunter2h')).toBe('token *** and ***');
  expect(mask('a hunt')).toBe('a ***');
  expect(mask('nothing')).toBe('nothing');
});

describe('a secret is masked', () => {
  const SECRET = 'sk-canary/+?=77~é1234';
  const mask = createMask([SECRET]);
  const percent = encodeURIComponent(SECRET);

  test.each([
    ['in a URL', percent],
    ['in a URL, with small letters', percent.replaceAll(/%../g, (code) => code.toLowerCase())],
    ['in Base64', Buffer.from(SECRET).toString('base64')],
    ['in Base64 for URLs', Buffer.from(SECRET).toString('base64url')],
    ['in Base64 behind one byte', Buffer.from(`:${SECRET}`).toString('base64')],
    ['in Base64 with a user', Buffer.from(`me:${SECRET}`).toString('base64')],
    ['in Base64 between others', Buffer.from(`ab:${SECRET}:xyz`).toString('base64url')],
  ])('%s', (_, form) => {
    const masked = mask(`before ${form} after`);
    expect(masked).toMatch(/^before \S{0,6}\*\*\*\S{0,6} after$/);
    expect(masked).not.toContain(form.slice(6, -6));
  });

  test.each([
    ['Bearer hunter2hunter2'],
    ['postgres://me:hunter2hunter2@db/x'],
    ['host=db;password=hunter2hunter2;port=1'],
    ['{"client_id": "me", "client_secret": "hunter2hunter2"}'],
    ['https://x/?api_key=hunter2hunter2&a=1'],
  ])('also if it appears apart from the rest of %s', (value) => {
    expect(createMask([value])('denied: hunter2hunter2!')).toBe('denied: ***!');
  });

  test('and nothing else is', () => {
    const harmless = createMask(['Bearer hunter2hunter2', 'postgres://me@db/customers']);
    const text = 'Bearer of customers in postgres, aHVudGVy, hunter';
    expect(harmless(text)).toBe(text);
  });
});

describe('a secret split across two lines', () => {
  const SECRET = 'sk-canary-0123456789';
  const mask = createLineMask([SECRET, 'short-01']);

  test.each(Array.from({ length: SECRET.length - 1 }, (_, index) => index + 1))(
    'reveals less than half of itself if it breaks after %d characters',
    (at) => {
      const lines = [`token: ${SECRET.slice(0, at)}`, `    ${SECRET.slice(at)} is wrong`];
      const shown = lines.map(mask).join('\n');
      expect(shown).toContain('***');
      expect(shown.replaceAll(/[^a-z0-9-]|token|is|wrong/g, '').length).toBeLessThan(10);
    },
  );

  test('is still masked in one line, even a short one', () => {
    expect(mask(`a ${SECRET} b short-01`)).toBe('a *** b ***');
    expect(mask('nothing of it')).toBe('nothing of it');
  });
});

test('only strings and numbers inside a value are masked, so it stays a value', () => {
  const mask = createMask(['{"debug":true}', '12345678']);
  expect(maskValue({ a: ['x {"debug":true}', 12345678, true, null] }, mask)).toEqual({
    a: ['x ***', '***', true, null],
  });
});

test('foreign text becomes one line, cut and masked', () => {
  const mask = createMask(['the-secret-value']);
  expect(excerpt(' a\n\tb \u001b[31mred\u001b[0m ', 20)).toBe('a b red');
  expect(excerpt('the-secret\u200b-value and the-secret-value', 20, mask)).toBe('*** and ***');
  expect(excerpt('x'.repeat(30), 20)).toBe(`${'x'.repeat(20)}…`);
});

test.each([
  [50, '50 ms'],
  [299.6, '300 ms'],
  [1_000, '1 s'],
  [1_500, '1.5 s'],
  [9_960, '10 s'],
  [12_345, '12 s'],
  [90_000, '90 s'],
  [150_000, '2.5 min'],
  [300_000, '5 min'],
  [3_600_000, '60 min'],
  [86_400_000, '24 h'],
  [3 * 86_400_000, '3 d'],
])('%d ms are formatted as %s', (ms, words) => {
  expect(formatDuration(ms)).toBe(words);
});
