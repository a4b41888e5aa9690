import { expect, test } from 'vitest';
import { paramHeaders } from '../../../src/child/remote/param-headers.ts';
import { checkMirroredHeaders } from '../../../src/host/http/mirrored-headers.ts';
import { decodeHeaderValue, encodeHeaderValue } from '../../../src/mcp/repeated.ts';

test.each([
  ['eu-west', 'eu-west'],
  ['two words', 'two words'],
  ['', '=?base64??='],
  [' a', '=?base64?IGE=?='],
  ['a ', '=?base64?YSA=?='],
  ['a\nb', '=?base64?YQpi?='],
  ['ü', '=?base64?w7w=?='],
  ['=?base64?YQ==?=', '=?base64?PT9iYXNlNjQ/WVE9PT89?='],
])('%j is sent as %s', (text, value) => {
  expect(encodeHeaderValue(text)).toBe(value);
  expect(decodeHeaderValue(value)).toBe(text);
});

/** The schema and value of an argument below this many objects. */
function nested(levels: number): { readonly schema: object; readonly args: object } {
  let schema: object = { properties: { last: { type: 'string', 'x-mcp-header': 'Last' } } };
  let args: object = { last: 'x' };
  for (let level = 0; level < levels; level++) {
    schema = { properties: { next: schema } };
    args = { next: args };
  }
  return { schema, args };
}

test.each([
  [0, true],
  [40, true],
  [64, true],
  [65, false],
])(
  'servers get an argument below %i objects exactly if hosts must send it',
  (levels, isRepeated) => {
    const { schema, args } = nested(levels);
    const call = { kind: 'request', id: 1, method: 'tools/call', text: '' } as const;
    const refusal = checkMirroredHeaders(
      { ...call, value: { params: { name: 'find', arguments: args } } },
      { 'mcp-method': 'tools/call', 'mcp-name': 'find' },
      () => schema,
    );
    expect(paramHeaders(schema, args)).toEqual(isRepeated ? { 'mcp-param-last': 'x' } : {});
    expect(refusal !== undefined).toBe(isRepeated);
  },
);
