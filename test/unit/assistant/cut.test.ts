import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cut, head, wellFormed } from '../../../src/assistant/cut.ts';
import { formatResult } from '../../../src/assistant/result-text.ts';
import { loopPrompt } from '../../../src/assistant/system-prompt.ts';

test('never splits a character', () => {
  expect(head('a😀b', 2)).toBe('a');
  expect(head('a😀b', 3)).toBe('a😀');
  expect(head('', 0)).toBe('');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(30), (text, length) => {
      const beginning = head(text, length);
      expect(beginning.isWellFormed()).toBe(true);
      expect(beginning.length).toBeLessThanOrEqual(length);
      expect(text.startsWith(beginning)).toBe(true);
    }),
  );
});

test('cut text says so and is well-formed', () => {
  expect(cut('short', 5)).toBe('short');
  expect(cut('😀😀', 3)).toBe('😀\n… (cut off after 3 of 4 characters)');
  const content = [{ type: 'text', text: '😀😀' }];
  expect(formatResult({ content }, 3).text.isWellFormed()).toBe(true);
  const parts = { childName: 'kid', role: undefined, instructions: `a${'😀'.repeat(20_000)}` };
  expect(loopPrompt(parts).isWellFormed()).toBe(true);
});

test('half a character is replaced anywhere', () => {
  expect(wellFormed({ 'a\ud83d': ['\ude00b', 1, null, { c: '😀' }] })).toEqual({
    'a\ufffd': ['\ufffdb', 1, null, { c: '😀' }],
  });
});
