import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { setKey } from '../../../src/config/change/edit.ts';
import { parseJsonc } from '../../../src/config/files/files.ts';

const PATH = ['suites', 'memory', 'show'];

/** What `switchboard show memory flip` makes of a text. */
const setShow = (text: string) => setKey(text, PATH, 'flip');

describe('an existing key', () => {
  test('gets the value, and nothing else changes', async () => {
    const text = `// mine
{
  "suites": {
    "github": { "show": "direct" }, // all day
    "memory": {   "show"  :  "suite"  ,  "start":"lazy" }, /* kept */
  },
  "timeouts": {"rpcMs":5},
}`;
    expect(await setShow(text)).toBe(text.replace('"suite"  ,', '"flip"  ,'));
  });

  test('that already has the value leaves the text unchanged, byte for byte', async () => {
    const text = '\uFEFF{"suites":{"memory":{"show":"fl\\u0069p",},}}\r\n';
    expect(await setShow(text)).toBe(text);
  });

  test('may be a number, and the last duplicate counts', async () => {
    const text = '{"a": 1, "b": 2, "a": 3}';
    expect(await setKey(text, ['a'], 0)).toBe('{"a": 1, "b": 2, "a": 0}');
    expect(await setKey('{"a":{"b":1},"a":{}}', ['a', 'b'], 2)).toBe('{"a":{"b":1},"a":{"b":2}}');
  });
});

test('a replaced value stays on one line, or on several', async () => {
  const value = { command: 'npx', args: ['-y', 'x'] };
  expect(await setKey('{\n  "a": { "b": 1 }, // one\n}', ['a'], value)).toBe(
    '{\n  "a": { "command": "npx", "args": ["-y", "x"] }, // one\n}',
  );
  expect(await setKey('{\n  "a": {\n    "b": 1\n  } // one\n}', ['a'], value)).toBe(
    '{\n  "a": {\n    "command": "npx",\n    "args": ["-y", "x"]\n  } // one\n}',
  );
  expect(await setKey('{"a":[]}', ['a'], value)).toBe('{"a":{"command":"npx","args":["-y","x"]}}');
});

test('a list too long for one line has one line per item, if the file has lines', async () => {
  const [a, b] = ['a'.repeat(50), 'b'.repeat(50)];
  const args = [a, { b }];
  expect(await setKey('{\r\n\t"x": 1\r\n}', ['args'], args)).toBe(
    `{\r\n\t"x": 1,\r\n\t"args": [\r\n\t\t"${a}",\r\n\t\t{\r\n\t\t\t"b": "${b}"\r\n\t\t}\r\n\t]\r\n}`,
  );
  expect(await setKey('{"x":1}', ['args'], args)).toBe(`{"x":1,"args":["${a}",{"b":"${b}"}]}`);
});

describe('a missing key is added in the style of its neighbours', () => {
  test.each([
    ['{}', '{\n  "suites": {\n    "memory": {\n      "show": "flip"\n    }\n  }\n}'],
    ['{}\n', '{\n  "suites": {\n    "memory": {\n      "show": "flip"\n    }\n  }\n}\n'],
    ['{"a":1}', '{"a":1,"suites":{"memory":{"show":"flip"}}}'],
    ['{"a": 1}', '{"a": 1, "suites": {"memory": {"show": "flip"}}}'],
    ['{ "a": 1 }', '{ "a": 1, "suites": { "memory": { "show": "flip" } } }'],
    ['{ "a": 1, }', '{ "a": 1, "suites": { "memory": { "show": "flip" } }, }'],
    ['{"suites":{}}', '{"suites":{"memory":{"show":"flip"}}}'],
    ['{ "suites": { } }', '{ "suites": { "memory": { "show": "flip" } } }'],
    ['{"suites":{"memory":{}}}', '{"suites":{"memory":{"show":"flip"}}}'],
    ['{ "suites": { /* none */ } }', '{ "suites": { /* none */ "memory": { "show": "flip" } } }'],
    // A comment behind a property stays behind it where each has a line of its own …
    [
      '{\n  "suites": {\n    "a": {} // of a\n    // "b": {}\n  }\n}',
      '{\n  "suites": {\n    "a": {}, // of a\n    "memory": {\n      "show": "flip"\n    }\n    // "b": {}\n  }\n}',
    ],
    [
      '{\n  "suites": {\n    "a": {}, /* of a */ // too\n  }\n}',
      '{\n  "suites": {\n    "a": {}, /* of a */ // too\n    "memory": {\n      "show": "flip"\n    },\n  }\n}',
    ],
    // … and nothing is written into it where they share one.
    [
      '{"suites":{"memory":{"a":1 // of a\n}}}',
      '{"suites":{"memory":{"a":1,"show":"flip" // of a\n}}}',
    ],
    [
      '{"suites":{"memory":{"a":1, // of a\n}}}',
      '{"suites":{"memory":{"a":1,"show":"flip", // of a\n}}}',
    ],
    [
      '{\n\t"suites": {\n\t\t"memory": {}\n\t}\n}\n',
      '{\n\t"suites": {\n\t\t"memory": {\n\t\t\t"show": "flip"\n\t\t}\n\t}\n}\n',
    ],
    [
      '{\r\n    "suites" : {\r\n        // none yet\r\n    }\r\n}\r\n',
      '{\r\n    "suites" : {\r\n        // none yet\r\n        "memory" : {\r\n            "show" : "flip"\r\n        }\r\n    }\r\n}\r\n',
    ],
    ['{\n"a": 1\n}', '{\n"a": 1,\n"suites": {\n"memory": {\n"show": "flip"\n}\n}\n}'],
    [
      '{ "a": 1,\n  "b": 2 }',
      '{ "a": 1,\n  "b": 2,\n  "suites": {\n    "memory": {\n      "show": "flip"\n    }\n  } }',
    ],
    [
      '{\n  "a": 1\n  ,\n}',
      '{\n  "a": 1,\n  "suites": {\n    "memory": {\n      "show": "flip"\n    }\n  }\n  ,\n}',
    ],
    ['\uFEFF{"a":1}', '\uFEFF{"a":1,"suites":{"memory":{"show":"flip"}}}'],
  ])('%j', async (text, expected) => {
    expect(await setShow(text)).toBe(expected);
    expect(await parseJsonc(expected.replace('\uFEFF', ''))).toHaveProperty('value');
  });

  test('with any name', async () => {
    const names = ['a.b', 'say "hi"', 'back\\slash', '', '__proto__', 'constructor', 'ž\u2028'];
    for (const name of names) {
      const text = await setKey('{}', ['suites', name, 'show'], 'flip');
      const parsed = JSON.parse(text) as { suites: object };
      expect(Object.entries(parsed.suites)).toEqual([[name, { show: 'flip' }]]);
      const again = await setKey(text, ['suites', name, 'show'], 'off');
      expect(again).toBe(text.replace('"flip"', '"off"'));
    }
  });
});

test.each(['[]', '""', '{"suites": []}', '{"suites": {"memory": 1}}', ''])(
  '%s has no place for it, which is an error',
  async (text) => {
    await expect(setShow(text)).rejects.toThrow('There is no object to set a key in.');
  },
);

// Texts as nobody would write them: any value, with any space, comment and comma between its parts.
describe('in any text', () => {
  const names = fc.constantFrom('suites', 'memory', 'show', '__proto__', 'a.b', '"', '1', '');
  const { value: anyObject } = fc.letrec<{ value: object; member: unknown }>((tie) => ({
    member: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, 1.5, 'text // not a comment', '}', []),
      tie('value'),
    ),
    value: fc
      .array(fc.tuple(names, tie('member')), { maxLength: 4 })
      .map((entries) => Object.fromEntries(entries)),
  }));
  const spaces = fc.array(
    fc.constantFrom('', ' ', '\n', '\n  ', '\r\n\t', '/* , */', '// } \n', ' /* a\nb */ '),
    { minLength: 1, maxLength: 12 },
  );
  const commas = fc.array(fc.constantFrom('', ','), { minLength: 1, maxLength: 5 });
  const path = fc.array(names, { minLength: 1, maxLength: 4 });
  const values = fc.constantFrom<unknown>(
    'flip',
    0,
    false,
    { a: { b: 1 } },
    {},
    [],
    [1, { a: ['x'.repeat(99)] }],
  );

  test('exactly this key gets the value, and all else is unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyObject,
        spaces,
        commas,
        path,
        values,
        async (object, s, c, keys, value) => {
          fc.pre(leadsThroughObjects(object, keys));
          const text = print(object, s, c);
          const after = await setKey(text, keys, value);
          expect(JSON.stringify(await parsed(after))).toBe(
            JSON.stringify(withKey(object, keys, value)),
          );
          // With a whole object that is replaced go the comments in it, and only those.
          const before = valueAt(object, keys);
          const withComments = isObject(before) ? text : after;
          expect(commentsIn(withComments)).toEqual(commentsIn(text));
          // What is added is added between, and nothing is taken away for it.
          expect(isSubsequence(text, before === undefined ? after : text)).toBe(true);
          expect(await setKey(after, keys, value)).toBe(after);
        },
      ),
      { numRuns: 500 },
    );
  });
});

async function parsed(text: string): Promise<unknown> {
  const result = await parseJsonc(text);
  if ('problem' in result) throw new Error(`${result.problem}\n${text}`);
  return result.value;
}

function print(value: unknown, spaces: readonly string[], commas: readonly string[]): string {
  let count = 0;
  const space = () => spaces[count++ % spaces.length] ?? '';
  const write = (part: unknown): string => {
    if (typeof part !== 'object' || part === null || Array.isArray(part))
      return JSON.stringify(part);
    const members = Object.entries(part).map(
      ([key, member]) =>
        `${space()}${JSON.stringify(key)}${space()}:${space()}${write(member)}${space()}`,
    );
    const end = members.length > 0 ? (commas[count % commas.length] ?? '') : '';
    return `{${members.join(',')}${end}${space()}}`;
  };
  return `${space()}${write(value)}${space()}`;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function member(value: unknown, key: string): unknown {
  return Object.getOwnPropertyDescriptor(value, key)?.value as unknown;
}

function leadsThroughObjects(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true;
  if (!isObject(value)) return false;
  return !Object.hasOwn(value, key) || leadsThroughObjects(member(value, key), rest);
}

function valueAt(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce((inner, key) => (isObject(inner) ? member(inner, key) : undefined), value);
}

function withKey(value: unknown, [key, ...rest]: readonly string[], to: unknown): unknown {
  if (key === undefined) return to;
  const entries = new Map(Object.entries(isObject(value) ? value : {}));
  entries.set(key, withKey(entries.get(key), rest, to));
  return Object.fromEntries(entries);
}

/** The comments of a text, which no string of ours can be taken for: those have no `/*`. */
function commentsIn(text: string): string[] {
  const tokens = text.matchAll(/"(?:[^"\\]|\\.)*"|\/\*[^]*?\*\/|\/\/[^\r\n]*/g);
  return [...tokens].map(([token]) => token).filter((token) => !token.startsWith('"'));
}

function isSubsequence(part: string, whole: string): boolean {
  let at = 0;
  for (const letter of whole) if (letter === part[at]) at++;
  return at === part.length;
}
