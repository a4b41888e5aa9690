import { expect, test } from 'vitest';
import { textOfResult } from '../../../src/mcp/result-text.ts';

test('text parts are joined, and other parts get a placeholder', () => {
  const content = [
    { type: 'text', text: 'one' },
    { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    { type: 'resource', resource: { uri: 'file:///a', text: 'inside' } },
    { type: 'resource_link', uri: 'file:///b' },
    'nonsense',
  ];
  expect(textOfResult({ content })).toBe(
    'one\n[image image/png 3 bytes]\ninside\n[resource_link file:///b]\n',
  );
});

test('a result with only data is shown as JSON', () => {
  expect(textOfResult({ content: [], structuredContent: { a: 1 } })).toBe('{"a":1}');
  expect(textOfResult({ content: [] })).toBe('');
  expect(textOfResult([1])).toBe('[1]');
});
