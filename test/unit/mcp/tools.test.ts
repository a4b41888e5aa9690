import { expect, test } from 'vitest';
import { dataResult, parseTools, toJsonResult, toToolResult } from '../../../src/mcp/tools.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';

const parse = (text: string) => new Verbatim(text, JSON.parse(text) as unknown);

test('a tool result passes as it came', () => {
  const answer = parse(
    '{"content":[{"type":"image","data":"","x":1.0}],"isError":true,"more":12345678901234567890}',
  );
  expect(toToolResult(answer)).toBe(answer);
});

test('an object that is no tool result keeps its keys and gains content and structured content', () => {
  const text = '{"ok":true,"big":12345678901234567890}';
  const result = toToolResult(parse(text));

  expect(result?.text).toContain('"ok":true,"big":12345678901234567890}');
  expect(JSON.parse(result?.text ?? '')).toEqual({
    ok: true,
    big: expect.anything() as unknown,
    content: [{ type: 'text', text }],
    structuredContent: JSON.parse(text) as unknown,
  });
});

test('an empty object gains content, too', () => {
  expect(JSON.parse(toToolResult(parse('{ }'))?.text ?? '')).toEqual({
    content: [{ type: 'text', text: '{ }' }],
    structuredContent: {},
  });
});

test('text, numbers and lists become text', () => {
  expect(toToolResult(parse('[1,2]'))?.value).toEqual({
    content: [{ type: 'text', text: '[1,2]' }],
  });
});

test.each([
  'null',
  '{"content":42}',
  '{"content":[],"isError":"maybe"}',
  '{"content":["text"]}',
  '{"content":[{}]}',
])('%s cannot be made a tool result', (text) => {
  expect(toToolResult(parse(text))).toBeUndefined();
});

test('wrapped as JSON the whole answer is one text', () => {
  expect(toJsonResult(parse('{"content":[]}')).value).toEqual({
    content: [{ type: 'text', text: '{"content":[]}' }],
  });
});

test('what a child lists that has no name is no tool', () => {
  expect(parseTools([{ name: 'a' }, null, 7, {}, { name: '' }, { name: 3 }])).toEqual([
    { name: 'a' },
  ]);
});

test('our own data is in content and structuredContent, at the top level only with Content-Length', () => {
  const data = { tools: [{ name: 'a', inputSchema: {} }] };
  const result = {
    content: [{ type: 'text', text: JSON.stringify(data) }],
    structuredContent: data,
  };
  expect(dataResult(data).value).toEqual(result);
  expect(dataResult(data, 'content-length').value).toEqual({ ...data, ...result });
});
