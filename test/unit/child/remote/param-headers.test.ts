import { expect, test } from 'vitest';
import { paramHeaders } from '../../../../src/child/remote/param-headers.ts';

test('arguments become headers if their schema asks for it, only from nested properties', () => {
  const wants = (name: unknown, more: object = {}) => ({ 'x-mcp-header': name, ...more });
  const schema = {
    properties: {
      region: wants('Region'),
      count: wants('count'),
      dry: wants('Dry'),
      none: wants('None'),
      missing: wants('Missing'),
      big: wants('Big'),
      list: wants('List'),
      bad: wants('no good\r\nx'),
      number: wants(3),
      inner: { properties: { deep: wants('Deep') } },
      items: { items: { properties: { deep: wants('Items') } } },
    },
  };
  const args = JSON.parse(
    '{"region":"eu","count":3,"dry":false,"none":null,"big":18446744073709551615,"list":[1],"bad":"x","number":"x","inner":{"deep":"ü"},"items":[{"deep":"x"}]}',
  ) as unknown;
  expect(paramHeaders(schema, args)).toEqual({
    'mcp-param-region': 'eu',
    'mcp-param-count': '3',
    'mcp-param-dry': 'false',
    'mcp-param-deep': '=?base64?w7w=?=',
  });
  expect(paramHeaders(undefined, args)).toEqual({});
  expect(paramHeaders(schema, 'no object')).toEqual({});
});
