import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replaceSpans, StringSearch } from '../../../src/base/search.ts';

/** Each string's index and each place where it is. */
function placesOf(strings: readonly string[], text: string): string[] {
  const places: string[] = [];
  new StringSearch(strings).visit(text, (index, at) => places.push(`${index} at ${at}`));
  return places.sort();
}

/** The same, one string after the other. */
function expectedPlaces(strings: readonly string[], text: string): string[] {
  return strings
    .flatMap((string, index) =>
      [...Array(text.length).keys()]
        .filter((at) => text.startsWith(string, at))
        .map((at) => `${index} at ${at}`),
    )
    .sort();
}

describe('searching for many strings', () => {
  // Few different characters, so that strings occur, overlap and almost occur. Two of them have the same lower byte.
  const text = (length: object) =>
    fc.string({ unit: fc.constantFrom('a', 'b', 'š', '\ud83e'), ...length });

  test('finds what searching for each of them finds', () => {
    fc.assert(
      fc.property(
        fc.array(text({ minLength: 3, maxLength: 6 }), { maxLength: 8 }),
        text({ maxLength: 60 }),
        (strings, haystack) => {
          expect(placesOf(strings, haystack)).toEqual(expectedPlaces(strings, haystack));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('finds strings at any place of a long text', () => {
    const CHUNK = 1 << 15;
    for (const filler of ['x', 'š']) {
      for (let at = CHUNK - 12; at < CHUNK + 3; at++) {
        const haystack = `${filler.repeat(at)}needle-01${filler.repeat(CHUNK)}needle-02`;
        expect(placesOf(['needle-01', 'needle-02'], haystack)).toEqual([
          `0 at ${at}`,
          `1 at ${at + 9 + CHUNK}`,
        ]);
      }
    }
  });
});

test('spans that overlap are replaced together, others on their own', () => {
  const spans = [
    { at: 6, end: 8 },
    { at: 0, end: 2 },
    { at: 1, end: 4 },
    { at: 1, end: 2 },
    { at: 4, end: 5 },
  ];
  expect(replaceSpans('abcdefgh', spans, '*')).toBe('**f*');
  expect(replaceSpans('abc', [], '*')).toBe('abc');
});
