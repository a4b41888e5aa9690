import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { nestingDepth, Verbatim } from '../../../src/rpc/verbatim.ts';

const parse = (text: string) => new Verbatim(text, JSON.parse(text) as unknown);

test('a member keeps its digits and whitespace', () => {
  const message = parse('{ "id" : 1 , "result" : { "big": 12345678901234567890, "one": 1.0 } }');

  expect(message.member('result')?.text).toBe('{ "big": 12345678901234567890, "one": 1.0 }');
  expect(message.member('result', 'big')?.text).toBe('12345678901234567890');
});

test('the last duplicate key counts, as in JSON.parse', () => {
  const message = parse('{"args":{"a":1},"args":{"a":2}}');

  expect(message.member('args')?.text).toBe('{"a":2}');
  expect(message.member('args')?.value).toEqual({ a: 2 });
});

test('the last duplicate key also counts along a path', () => {
  const texts = [
    '{"params":{"a":{"b":1},"a":{"b":2}},"params":{"a":{"b":3},"c":{"b":4}}}',
    '{"params":{"a":{"b":1}},"params":{"a":0,"a":{"b":0,"b":3}}, "a":{"b":5}}',
    '{"params":7,"params":{"c":{"a":{"b":1}},"a":{"b":3}}}',
  ];
  for (const text of texts) expect(parse(text).member('params', 'a', 'b')?.text).toBe('3');
});

test('maxLength is an upper bound', () => {
  const message = parse('{"params":{"a":"some text"}}');
  const member = message.member('params', 'a');
  expect(member?.maxLength).toBe(message.text.length);
  expect(member?.text).toBe('"some text"');
  expect(member?.maxLength).toBe(11);
  expect(Verbatim.of([1, 2]).maxLength).toBe(5);
});

test('a key with escapes is found', () => {
  expect(parse('{"\\u0061rgs":[1]}').member('args')?.text).toBe('[1]');
  expect(parse('{"ar\\u0067s":[1]}').member('args')?.text).toBe('[1]');
});

test('an escape differs from the characters it is written with', () => {
  const message = parse(String.raw`{"a\\tb":1,"a\tb":2,"":3}`);

  expect(message.member(String.raw`a\tb`)?.text).toBe('1');
  expect(message.member('a\tb')?.text).toBe('2');
  expect(message.member('')?.text).toBe('3');
});

test('our own text is parsed on first use', () => {
  expect(Verbatim.fromText('{"a":1.0}').text).toBe('{"a":1.0}');
  expect(Verbatim.fromText('{"a":1.0}').value).toEqual({ a: 1 });
  expect(parse('{"b":2.0}').prepend(parse('{"a":1}')).value).toEqual({ a: 1, b: 2 });
});

test('quotes and brackets inside strings are ignored', () => {
  const message = parse('{"a":"}\\"]{\\\\","b":[["]"]]}');

  expect(message.member('a')?.text).toBe('"}\\"]{\\\\"');
  expect(message.member('b')?.text).toBe('[["]"]]');
});

test('a missing member, or one of something that is not an object, is undefined', () => {
  expect(parse('{"a":1}').member('b')).toBeUndefined();
  expect(parse('{"a":1}').member('a', 'b')).toBeUndefined();
  expect(parse('{"a":1}').member('toString')).toBeUndefined();
});

test('every member of any object is found with a text for its value', () => {
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

test('depth counts both kinds of brackets, and none inside strings', () => {
  expect(nestingDepth('{"a":[[{"b":"[[[["}]],"c":[1]}')).toBe(4);
  expect(nestingDepth('"[[["')).toBe(0);
});

test('a set member is replaced in place or added; the rest keeps its text', () => {
  const object = parse('{ "a" : 1.0 , "b" : 12345678901234567890 }');
  expect(object.set('a', Verbatim.of('x')).text).toBe('{ "a" : "x" , "b" : 12345678901234567890 }');
  expect(object.set('c', parse('2.0')).text).toBe(
    '{"c":2.0,"a" : 1.0 , "b" : 12345678901234567890}',
  );
  expect(parse(' { } ').set('c', parse('2.0')).text).toBe('{"c":2.0}');
});

test.each(['{}', '{"b":1}', '{"x":{"a":1}}', '[{"a":1}]', '"a"'])(
  'replacing a member that %s does not have throws',
  (text) => {
    expect(() => parse(text).with('a', Verbatim.of(2))).toThrow('There is no member "a".');
  },
);

test('removing a member removes its duplicates', () => {
  expect(parse('{"a":1,"\\u0061":2,"b":1.0,"a":3}').without('a').text).toBe('{"b":1.0}');
  expect(parse('{"a":1,"b":2}').without('a', 'b', 'c').text).toBe('{}');
});

test('an object without any of them stays the same object', () => {
  const object = parse('{ "a": 1.0 }');
  expect(object.without('b', 'toString')).toBe(object);
});

test('set and without match the operations on a value', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue());
  const indent = fc.constantFrom(undefined, 1, '\t');
  fc.assert(
    fc.property(object, indent, fc.string(), fc.jsonValue(), (value, blanks, other, member) => {
      const message = parse(JSON.stringify(value, null, blanks));
      const own = message.value as Record<string, unknown>;
      for (const key of [other, '__proto__', ...Object.keys(own)]) {
        const set = message.set(key, parse(JSON.stringify(member)));
        expect(set.value).toEqual(JSON.parse(set.text));
        expect(Object.keys(set.value as object).toSorted()).toEqual(
          [...new Set([...Object.keys(own), key])].toSorted(),
        );
        expect(set.member(key)?.text).toBe(JSON.stringify(member));

        const left = message.without(key);
        expect(left.value).toEqual(JSON.parse(left.text));
        expect(Object.keys(left.value as object)).toEqual(
          Object.keys(own).filter((name) => name !== key),
        );
        // What was added is taken out again without a trace in the others.
        for (const name of Object.keys(left.value as object)) {
          expect(set.without(key).member(name)?.text).toBe(message.member(name)?.text);
        }
      }
    }),
  );
});
