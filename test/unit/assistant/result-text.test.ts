import { expect, test } from 'vitest';
import { formatResult } from '../../../src/assistant/result-text.ts';

test('an error stays an error', () => {
  const result = { content: [{ type: 'text', text: 'no' }], isError: true };
  expect(formatResult(result, 1_000)).toEqual({ text: 'no', isError: true });
});

test('an empty result says so', () => {
  expect(formatResult({ content: [] }, 1_000).text).toBe('(no output)');
  expect(formatResult({}, 1_000).text).toBe('(no output)');
});

test('a long one is cut with a note', () => {
  const content = [{ type: 'text', text: 'x'.repeat(20) }];
  expect(formatResult({ content }, 5).text).toBe('xxxxx\n… (cut off after 5 of 20 characters)');
});
