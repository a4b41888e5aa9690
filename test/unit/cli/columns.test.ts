// How many columns of a terminal a text takes, and how it is cut and wrapped to fit.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { columnsOf, cutEnd, cutStart, wrapText } from '../../../src/cli/terminal/columns.ts';

test.each([
  ['plain', 5],
  ['天気', 4],
  ['한국', 4],
  ['１２', 4], // full-width digits
  ['、。', 4], // CJK punctuation
  ['ｱｲ', 2], // half-width katakana
  ['😀', 2],
  ['👩‍👩‍👧', 2],
  ['🇩🇪', 2],
  ['❤️', 2],
  ['1️⃣', 2],
  ['e\u0301', 1],
  ['\u0301', 0],
  ['…✓●', 3],
])('%j takes %i columns', (text, columns) => {
  expect(columnsOf(text)).toBe(columns);
});

test('a cut counts columns, not characters', () => {
  expect(cutEnd('天気予報', 5)).toBe('天気…');
  expect(cutStart('天気予報', 5)).toBe('…予報');
  expect(cutEnd('天気予報', 8)).toBe('天気予報');
});

test('text is wrapped between words', () => {
  expect(wrapText('the quick brown fox', 10)).toEqual(['the quick', 'brown fox']);
  expect(wrapText('one\ntwo three', 20)).toEqual(['one', 'two three']);
  expect(wrapText('', 20)).toEqual(['']);
});

test('a long word is broken', () => {
  expect(wrapText('a abcdefghij b', 4)).toEqual(['a', 'abcd', 'efgh', 'ij b']);
  expect(wrapText('天気予報です', 5)).toEqual(['天気', '予報', 'です']);
});

test('without a terminal nothing is wrapped', () => {
  expect(wrapText('a  b '.repeat(100), Infinity)).toEqual(['a  b '.repeat(100)]);
});

test('no line is wider than the width, and nothing is lost', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 200 });
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 40 }), (words, width) => {
      const lines = wrapText(words, width);
      for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(width);
      expect(lines.join('').replaceAll(/\s/gu, '')).toBe(words.replaceAll(/\s/gu, ''));
    }),
  );
});
