import { expect, test } from 'vitest';
import { dataResult, parseTools, toJsonResult, toToolResult } from '../../../src/mcp/tools.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';

const parse = (text: string) => new Verbatim(text, JSON.parse(text) as unknown);

test('a tool result passes through unchanged', () => {
  const answer = parse(
    '{"content":[{"type":"image","data":"","x":1.0}],"isError":true,"more":12345678901234567890}',
  );
  expect(toToolResult(answer)).toBe(answer);
});

test('an object that is not a tool result keeps its keys and gains content and structured content', () => {
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

test('an empty object also gains content', () => {
  expect(JSON.parse(toToolResult(parse('{ }'))?.text ?? '')).toEqual({
    content: [{ type: 'text', text: '{ }' }],
    structuredContent: {},
  });
});

test('strings, numbers and lists become text', () => {
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
])('%s cannot become a tool result', (text) => {
  expect(toToolResult(parse(text))).toBeUndefined();
});

test('as JSON the whole answer is one text block', () => {
  expect(toJsonResult(parse('{"content":[]}')).value).toEqual({
    content: [{ type: 'text', text: '{"content":[]}' }],
  });
});

test('a listed item without a name is not a tool', () => {
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
