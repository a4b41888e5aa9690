import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { summarise } from '../../../src/surface/summary.ts';

test('text that fits only has its whitespace collapsed', () => {
  expect(summarise('  Click\n\ta   selector. ', 160)).toBe('Click a selector.');
});

test('a missing description is an empty summary', () => {
  expect(summarise(undefined, 160)).toBe('');
});

test('a long text ends after a sentence, if one ends in the second half of the limit', () => {
  const text = `${'Reads a file from the disk of this machine'.padEnd(90, '.a')}. And then a lot more follows that nobody needs to read in a list of tools, really not.`;
  const summary = summarise(text, 160);
  expect(summary).toBe(text.slice(0, 91));
});

test('otherwise it is cut at a word, with an ellipsis', () => {
  expect(summarise('one two three four five six', 20)).toBe('one two three four…');
});

test('a text without spaces is cut anywhere', () => {
  expect(summarise('a'.repeat(200), 160)).toBe(`${'a'.repeat(159)}…`);
});

test('a full stop inside a word or number does not end a sentence', () => {
  expect(summarise('Version 2.4 of index.js is needed here today', 20)).toBe(
    'Version 2.4 of inde…',
  );
});

test('grapheme clusters stay whole', () => {
  const family = '👨‍👩‍👧‍👦';
  expect(summarise(family.repeat(10), 25)).toBe(`${family.repeat(2)}…`);
});

test('any summary fits, is well-formed, and has no double spaces', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 400 }),
      fc.integer({ min: 1, max: 200 }),
      (text, limit) => {
        const summary = summarise(text, limit);
        expect(summary.length).toBeLessThanOrEqual(limit);
        expect(summary.isWellFormed()).toBe(true);
        expect(summary).not.toMatch(/\s\s/);
      },
    ),
  );
});
