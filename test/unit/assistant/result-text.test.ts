import { expect, test } from 'vitest';
import { formatResult } from '../../../src/assistant/result-text.ts';

test('text parts are joined, and other parts get a placeholder', () => {
  const content = [
    { type: 'text', text: 'one' },
    { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    { type: 'resource', resource: { uri: 'file:///a', text: 'inside' } },
    { type: 'resource_link', uri: 'file:///b' },
    'nonsense',
  ];
  expect(formatResult({ content }, 1_000)).toEqual({
    text: 'one\n[image image/png 3 bytes]\ninside\n[resource_link file:///b]\n',
    isError: false,
  });
});

test('an error stays an error', () => {
  const result = { content: [{ type: 'text', text: 'no' }], isError: true };
  expect(formatResult(result, 1_000)).toEqual({ text: 'no', isError: true });
});

test('a result with only data is shown as JSON, and an empty one says so', () => {
  expect(formatResult({ content: [], structuredContent: { a: 1 } }, 1_000).text).toBe('{"a":1}');
  expect(formatResult({ content: [] }, 1_000).text).toBe('(no output)');
  expect(formatResult({}, 1_000).text).toBe('(no output)');
});

test('a long one is cut with a note', () => {
  const content = [{ type: 'text', text: 'x'.repeat(20) }];
  expect(formatResult({ content }, 5).text).toBe('xxxxx\n… (cut off after 5 of 20 characters)');
});
