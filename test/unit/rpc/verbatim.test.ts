import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { nestingDepth, Verbatim } from '../../../src/rpc/verbatim.ts';

const parse = (text: string) => new Verbatim(text, JSON.parse(text) as unknown);

test('a member keeps the digits and blanks it was written with', () => {
  const message = parse('{ "id" : 1 , "result" : { "big": 12345678901234567890, "one": 1.0 } }');

  expect(message.member('result')?.text).toBe('{ "big": 12345678901234567890, "one": 1.0 }');
  expect(message.member('result', 'big')?.text).toBe('12345678901234567890');
});

test('of two members with one key the last counts, as for JSON.parse', () => {
  const message = parse('{"args":{"a":1},"args":{"a":2}}');

  expect(message.member('args')).toEqual(new Verbatim('{"a":2}', { a: 2 }));
});

test('a key that is written with escapes is found', () => {
  expect(parse('{"\\u0061rgs":[1]}').member('args')?.text).toBe('[1]');
});

test('quotes and brackets inside strings end nothing', () => {
  const message = parse('{"a":"}\\"]{\\\\","b":[["]"]]}');

  expect(message.member('a')?.text).toBe('"}\\"]{\\\\"');
  expect(message.member('b')?.text).toBe('[["]"]]');
});

test('a member that is not there, or of something that is no object, is undefined', () => {
  expect(parse('{"a":1}').member('b')).toBeUndefined();
  expect(parse('{"a":1}').member('a', 'b')).toBeUndefined();
  expect(parse('{"a":1}').member('toString')).toBeUndefined();
});

test('for any object, every member is found with a text that means its value', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(object, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
      const message = parse(JSON.stringify(value, null, indent));
      for (const [key, member] of Object.entries(message.value as object)) {
        expect(JSON.parse(message.member(key)?.text ?? 'null')).toEqual(member);
      }
    }),
  );
});

test('depth counts brackets of both kinds, and none inside strings', () => {
  expect(nestingDepth('{"a":[[{"b":"[[[["}]],"c":[1]}')).toBe(4);
  expect(nestingDepth('"[[["')).toBe(0);
});
