import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { setKey } from '../../../src/config/change/edit.ts';
import { unsetKey } from '../../../src/config/change/unset.ts';
import { parseJsonc } from '../../../src/config/files/files.ts';

const PATH = ['suites', 'memory', 'assistant'];

describe('setting and removing restores the text', () => {
  test.each([
    '{\n  "a": 1\n}\n',
    '{\n  "a": 1,\n}\n',
    '\ufeff{\r\n\t"a": 1\r\n}\r\n',
    '{"a":1}',
    '{ "a": 1, }',
    '{\n  "a": 1 // one\n}',
    '{\n  "a": 1, // one\n  /* end */\n}',
    '{ "suites": { "other": { "show": "flip" } } }',
    '{\n  "suites": {\n    "other": {}\n  }, // ours\n  "z": 0\n}\n',
    '{\n  "suites": {\n    "memory": {\n      "show": "flip", // why\n    },\n  },\n}\n',
    '{"suites":{"memory":{"show":"flip"}},"b":2}',
    '{}',
  ])('%j', async (text) => {
    const changed = await setKey(text, PATH, true);
    expect(changed).not.toBe(text);
    expect(await unsetKey(changed, PATH)).toBe(text);
  });
});

describe('removes a key anywhere', () => {
  test.each([
    ['{"a":1,"b":2,"c":3}', 'a', '{"b":2,"c":3}'],
    ['{"a":1,"b":2,"c":3}', 'b', '{"a":1,"c":3}'],
    ['{ "a": 1, "b": 2, "c": 3, }', 'c', '{ "a": 1, "b": 2, }'],
    ['{\n  "a": 1,\n  "b": 2\n}', 'a', '{\n  "b": 2\n}'],
    ['{\n  "a": 1, // one\n  "b": 2 // two\n}', 'b', '{\n  "a": 1 // one // two\n}'],
    ['{\n  "a": 1, // one\n  "b": 2\n}', 'a', '{ // one\n  "b": 2\n}'],
    ['{\n  // none yet\n  "a": 1\n}', 'a', '{\n  // none yet\n}'],
    ['{"a":1,"a":2}', 'a', '{"a":1}'],
  ])('%j without %s', async (text, key, expected) => {
    expect(await unsetKey(text, [key])).toBe(expected);
  });

  test('an object that becomes empty is also removed, unless it has a comment', async () => {
    const text = '{ "a": 1, "suites": { "memory": { "assistant": true } } }';
    expect(await unsetKey(text, PATH)).toBe('{ "a": 1 }');
    const commented = '{ "suites": { "memory": { /* mine */ "assistant": true } } }';
    expect(await unsetKey(commented, PATH)).toBe('{ "suites": { "memory": { /* mine */ } } }');
  });

  test.each(['{}', '{"suites": 1}', '{"suites": {"memory": {}}}', '[]', ''])(
    '%j without the key stays unchanged',
    async (text) => {
      expect(await unsetKey(text, PATH)).toBe(text);
    },
  );
});

test('in any file, the rest keeps its meaning', async () => {
  const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 });
  await fc.assert(
    fc.asyncProperty(
      json,
      fc.constantFrom(undefined, 2, '\t'),
      fc.nat(),
      async (value, space, at) => {
        const keys = Object.keys(value);
        const key = keys[at % keys.length] ?? '';
        const text = await unsetKey(JSON.stringify(value, null, space), [key]);
        const { [key]: _, ...rest } = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
        expect(await parseJsonc(text)).toEqual({ value: rest });
      },
    ),
  );
});
