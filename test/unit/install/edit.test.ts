import { parse } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import { withEntries } from '../../../src/install/edit.ts';

const add = (text: string, path: string[] = ['new']) => withEntries(text, [{ path, value: 1 }]);

describe('a new entry goes to the end, and nothing else changes', () => {
  test.each([
    ['an empty object', '{}\n', '{\n  "new": 1\n}\n'],
    ['an empty object on two lines', '{\n}\n', '{\n  "new": 1\n}\n'],
    ['a comment alone', '{\n  // none yet\n}\n', '{\n  // none yet\n  "new": 1\n}\n'],
    ['one line', '{"a":{"b":[1,2]}}', '{"a":{"b":[1,2]},\n  "new": 1\n}'],
    ['a comma at the end', '{\n  "a": 1,\n}\n', '{\n  "a": 1,\n  "new": 1\n}\n'],
    [
      'a comma behind a comment',
      '{\n  "a": 1 /* , */ ,\n}\n',
      '{\n  "a": 1 /* , */ ,\n  "new": 1\n}\n',
    ],
    [
      'a comment behind the last entry',
      '{\n  "a": 1 // one, and\n}\n',
      '{\n  "a": 1, // one, and\n  "new": 1\n}\n',
    ],
    ['tabs', '{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"new": 1\n}\n'],
    ['four spaces', '{\n    "a": 1\n}\n', '{\n    "a": 1,\n    "new": 1\n}\n'],
    ["Windows' line ends", '{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "new": 1\r\n}\r\n'],
    ['a byte order mark', '\ufeff{}\n', '\ufeff{\n  "new": 1\n}\n'],
    ['what stands around it', '// top\n{}\n// bottom\n', '// top\n{\n  "new": 1\n}\n// bottom\n'],
  ])('%s', async (_what, before, after) => {
    expect(await add(before)).toBe(after);
    expect(parse(after.replace('\ufeff', ''))).toMatchObject({ new: 1 });
  });
});

test('entries go under a key, too', async () => {
  const before = '{\n  "mcpServers": {\n    "a": 1\n  },\n  "other": 2\n}\n';
  expect(await add(before, ['mcpServers', 'new'])).toBe(
    '{\n  "mcpServers": {\n    "a": 1,\n    "new": 1\n  },\n  "other": 2\n}\n',
  );
});

test('an entry that is there is replaced in its place', async () => {
  const before = '{\n  "a": 1, // one\n  "new": { "old": true }, // two\n  "z": 3\n}\n';
  expect(await add(before)).toBe('{\n  "a": 1, // one\n  "new": 1, // two\n  "z": 3\n}\n');
});

test('several entries follow each other, whatever their names are', async () => {
  const entries = ['__proto__', 'a "b"', '1'].map((name) => ({
    path: [name],
    value: { command: name },
  }));
  expect(JSON.parse(await withEntries('{}', entries))).toEqual(
    JSON.parse(
      String.raw`{"__proto__":{"command":"__proto__"},"a \"b\"":{"command":"a \"b\""},"1":{"command":"1"}}`,
    ),
  );
});
