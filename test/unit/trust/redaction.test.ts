import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { SecretFinder } from '../../../src/trust/redaction/finder.ts';
import { maskJson } from '../../../src/trust/redaction/mask-json.ts';
import { valuesAt } from '../../../src/trust/redaction/paths.ts';
import { maskResult, noteSecrets } from '../../../src/trust/redaction/results.ts';
import { GITHUB_TOKEN, TOKENS } from '../../support/tokens.ts';

const SECRET = 'hunter2-hunter2';

describe('paths', () => {
  const args = {
    apiKey: 'one',
    user: { name: 'ann', password: 'two', pins: [1234, 5678] },
    list: [{ key: 'three' }, { key: 'four', other: 'x' }],
    'odd name': { token: 'five' },
  };

  test.each([
    ['$.apiKey', ['one']],
    ['$.user.password', ['two']],
    ['$.user', ['ann', 'two', '1234', '5678']],
    ['$.user.pins[1]', ['5678']],
    ['$.list[*].key', ['three', 'four']],
    ['$.list.0.key', ['three']],
    ["$['odd name'].token", ['five']],
    ['$["odd name"]["token"]', ['five']],
    ['$..token', ['five']],
    ['$..key', ['three', 'four']],
    ['$.*.password', ['two']],
    ['$.nothing.here', []],
    ['$.apiKey.length', []],
    ['$.__proto__', []],
  ])('%s', (path, expected) => {
    expect(valuesAt(args, [path])).toEqual(expected);
  });

  test('arguments that are nested deeply, or aren’t an object', () => {
    const deep = `${'{"a":'.repeat(50_000)}{"token":"x"}${'}'.repeat(50_000)}`;
    expect(valuesAt(JSON.parse(deep), ['$..token'])).toEqual(['x']);
    for (const odd of [null, 7, 'text', [], undefined]) expect(valuesAt(odd, ['$..a'])).toEqual([]);
  });
});

describe('masking JSON', () => {
  const finder = new SecretFinder([SECRET, '12345678']);

  test('only strings with a secret change', () => {
    const text = `{ "n": 1.0, "big":123456789012345678901, "s": "a ${SECRET}\\n\\u00e9",\t"t": "\\u0041\\/" }`;
    expect(maskJson(text, finder)).toBe(
      '{ "n": 1.0, "big":123456789012345678901, "s": "a ***\\n\\u00e9",\t"t": "\\u0041\\/" }',
    );
    expect(maskJson('{"a":"b"}', finder)).toBe('{"a":"b"}');
  });

  test('JSON inside a string stays JSON', () => {
    const inner = { pin: 12345678, key: SECRET, list: [`"${SECRET}"`] };
    const outer = JSON.stringify({ text: JSON.stringify({ again: JSON.stringify(inner) }) });
    const { text } = JSON.parse(maskJson(outer, finder)) as { text: string };
    const { again } = JSON.parse(text) as { again: string };
    expect(JSON.parse(again)).toEqual({ pin: 12345678, key: '***', list: ['"***"'] });
  });

  test.each([
    // A token or value that begins with the letter of an escape, or its digits.
    [String.raw`{"text":"one\npm_${'a'.repeat(36)}"}`, 'one\npm_'],
    [String.raw`{"text":"one\nhunter2-hunter2"}`, 'one\n***'],
    [String.raw`{"text":"one\number12"}`, 'one\number12'],
    [String.raw`{"text":"\u00e9abcdef"}`, 'éabcdef'],
    [String.raw`{"text":"\u4e2d${GITHUB_TOKEN}\u4e2d"}`, '中***中'],
    [String.raw`{"text":"end\\hunter2-hunter2\\"}`, String.raw`end\***` + '\\'],
    // One that ends with a backslash, before a quote and before another character.
    [String.raw`{"text":"back-slash\\"}`, '***'],
    [String.raw`{"text":"back-slash\n"}`, 'back-slash\n'],
  ])('%s keeps its escapes', (json, expected) => {
    const odd = new SecretFinder([SECRET, 'number12', 'e9abcdef', 'back-slash\\']);
    const { text } = JSON.parse(maskJson(json, odd)) as { text: string };
    expect(text.startsWith(expected)).toBe(true);
  });

  test.each([
    ['a token', `"${GITHUB_TOKEN}"`],
    ['an escaped token', `"\\u0067${GITHUB_TOKEN.slice(1)}"`],
    ['an escaped value', String.raw`"hunter2\u002dhunter2"`],
  ])('%s in JSON inside a string is masked', (_what, written) => {
    const nested = JSON.stringify({ text: `{"key":${written},"pin":12345678,"at":"a\\npm_"}` });
    const { text } = JSON.parse(maskJson(nested, finder)) as { text: string };
    expect(JSON.parse(text)).toEqual({ key: '***', pin: 12345678, at: 'a\npm_' });
  });

  test('a private key is masked to its end, whatever it is wrapped with', () => {
    const key = ['-----BEGIN PRIVATE', 'KEY-----AAAA\tBBBB\n-----END PRIVATE KEY-----'].join(' ');
    expect(maskJson(JSON.stringify({ key: `${key}!` }), finder)).toBe('{"key":"***!"}');
  });

  test('words of the protocol are not secrets', () => {
    const unlucky = new SecretFinder(['structuredContent', 'resource_link', 'whatever']);
    expect(maskJson('{"structuredContent":{"type":"resource_link","x":"whatever"}}', unlucky)).toBe(
      '{"structuredContent":{"type":"resource_link","x":"***"}}',
    );
  });
});

describe('results', () => {
  const resultWith = (text: string) => ({ content: [{ type: 'text', text }] });

  test.each([
    ['plain', SECRET],
    ['base64', Buffer.from(`user:${SECRET}`).toString('base64')],
    ['URL-encoded', encodeURIComponent('a/b c?d=e+f')],
    ['with quotes and line breaks', 'quote"and\nbreak'],
  ])('a configured value is masked: %s', (_form, written) => {
    const values = [SECRET, 'a/b c?d=e+f', 'quote"and\nbreak'];
    const { found, result } = maskResult(
      Verbatim.of(resultWith(`is ${written}.`)),
      new SecretFinder(values),
    );
    expect(found).toEqual(['configured value']);
    expect(result.text).not.toContain(written);
    expect(JSON.stringify(result.value)).toContain('***');
  });

  test.each(TOKENS)('a %s is masked, however it is escaped', (kind, token) => {
    const escaped = Array.from(token).map(
      (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    const texts = [JSON.stringify(`x\n${token}\ny`), `"x\\n${escaped.join('')}\\ny"`];
    for (const text of texts) {
      const given = new Verbatim(`{"content":[{"type":"text","text":${text}}]}`, {});
      const { found, result } = maskResult(given, new SecretFinder([]));
      expect(found).toEqual([kind]);
      expect(JSON.parse(result.text)).toEqual(resultWith('x\n***\ny'));
    }
  });

  test('a result without secrets is the same object', () => {
    const given = Verbatim.of(resultWith('nothing to hide'));
    expect(maskResult(given, new SecretFinder([SECRET]))).toEqual({ found: [], result: given });
    expect(maskResult(given, new SecretFinder([SECRET])).result).toBe(given);
    expect(noteSecrets(given, new SecretFinder([SECRET])).result).toBe(given);
  });

  test('a note is added, and nothing is changed', () => {
    const given = new Verbatim(
      `{"content":[{"type":"text","text":"${GITHUB_TOKEN}"}],"n":1.0,"_meta":{"a":1}}`,
      { content: [{ type: 'text', text: GITHUB_TOKEN }], n: 1, _meta: { a: 1 } },
    );
    const { found, result } = noteSecrets(given, new SecretFinder([]));
    expect(found).toEqual(['GitHub token']);
    expect(result.text).toContain('"n":1.0');
    expect(JSON.parse(result.text)).toEqual({
      content: [
        { type: 'text', text: GITHUB_TOKEN },
        {
          type: 'text',
          text: "Note from Switchboard: this result contains secrets (GitHub token). Don't repeat them or pass them on.",
        },
      ],
      n: 1,
      _meta: { a: 1, 'switchboard/secrets': ['GitHub token'] },
    });
  });

  test('a result without content gets its note in _meta', () => {
    const given = Verbatim.of({ contents: [{ uri: 'x', text: SECRET }] });
    const { result } = noteSecrets(given, new SecretFinder([SECRET]));
    expect(result.value).toEqual({
      contents: [{ uri: 'x', text: SECRET }],
      _meta: { 'switchboard/secrets': ['configured value'] },
    });
  });

  test('no escapes hide a secret or break JSON, on any level', () => {
    const values = [
      SECRET,
      'n"ew/path\\',
      'ünïcödé-secret',
      '1234567890',
      String.raw`odd\u0041one`,
    ];
    const secrets = [...values, ...TOKENS.map(([, token]) => token)];
    const others = ['a', ' ', '"', '\\', '\n', '/', 'é', '\u2028', '{', '[1,', 'npm_', '00e9', 'u'];
    const word = fc.constantFrom(...secrets, ...others);
    const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
    const { node } = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 3 },
        text,
        fc.constantFrom(1234567890, 0.5, true, null),
        tie('node').map((value) => JSON.stringify(value)),
        fc.array(tie('node'), { maxLength: 3 }),
        fc
          .array(fc.tuple(text, tie('node')), { maxLength: 3 })
          .map((entries) =>
            Object.fromEntries(entries.map(([key, value], at) => [`${key} ${at}`, value])),
          ),
      ),
    }));
    const finder = new SecretFinder(values);
    fc.assert(
      fc.property(node, fc.array(fc.nat(3), { minLength: 5, maxLength: 20 }), (value, ways) => {
        const written = escapeSome(JSON.stringify(value), ways);
        const { result } = maskResult(Verbatim.fromText(written), finder);
        const after = result.value;
        expect(shapeOf(after)).toEqual(shapeOf(value));
        const left = stringsIn(after).join('\n');
        expect(secrets.filter((secret) => left.includes(secret))).toEqual([]);
      }),
      {
        numRuns: 1_000,
        examples: [
          ['{"a":1234567890}', [1, 0, 0, 0, 0]],
          [String.raw`odd\u0041one`, [0, 1, 0, 0, 0, 0, 0]],
        ],
      },
    );
  });

  test('random results with secrets anywhere stay JSON and lose only the secrets', () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed + 0x6d2b79f5) | 0;
      const mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
    };
    const words = [
      'a',
      '"',
      '\\',
      '\n',
      'é',
      '\ud83e\udd8a',
      '/',
      '{"x":1}',
      '[',
      '\u2028',
      '  ',
      'key=',
    ];
    const text = (): string =>
      Array.from({ length: random(8) }, () => {
        const pick = random(words.length + 2);
        if (pick === words.length) return ` ${SECRET} `;
        return pick > words.length ? ` ${GITHUB_TOKEN} ` : words[pick];
      }).join('');
    const value = (depth: number): unknown => {
      const kind = random(depth > 3 ? 3 : 6);
      if (kind === 0) return random(1_000) / 8;
      if (kind < 3) return text();
      if (kind === 3) return [null, true, false][random(3)];
      if (kind === 4) return Array.from({ length: random(4) }, () => value(depth + 1));
      if (random(2) === 0) return JSON.stringify(value(depth + 1));
      return Object.fromEntries(
        Array.from({ length: random(4) }, (_none, index) => [`k${index}`, value(depth + 1)]),
      );
    };
    for (let round = 0; round < 1_000; round++) {
      const given = Verbatim.of({ content: [{ type: 'text', text: text() }], extra: value(0) });
      const { result } = maskResult(given, new SecretFinder([SECRET]));
      const after = JSON.stringify(JSON.parse(result.text));
      expect(after).not.toContain(SECRET);
      expect(after).not.toContain(GITHUB_TOKEN);
      const expected = given.text.replaceAll(SECRET, '***').replaceAll(GITHUB_TOKEN, '***');
      expect(after).toBe(JSON.stringify(JSON.parse(expected)));
    }
  });
});

/** The same JSON with some characters of its strings escaped, and line breaks between its parts. */
function escapeSome(json: string, ways: readonly number[]): string {
  let turn = 0;
  const change = (character: string): string => {
    const way = ways[turn++ % ways.length];
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    if (way === 1) return String.raw`\u${code}`;
    if (way === 2) return String.raw`\u${code.toUpperCase()}`;
    return way === 3 && character === '/' ? String.raw`\/` : character;
  };
  return json.replaceAll(/"(?:[^"\\]|\\.)*"/gs, (string) =>
    string.replaceAll(/\\.|[^"\\]/gs, (part) => (part.length > 1 ? part : change(part))),
  );
}

/** A value's kind and members, including JSON in its strings. Keys may change. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value === 'object' && value !== null)
    return { members: Object.values(value).map(shapeOf) };
  if (typeof value !== 'string') return value;
  try {
    const inner: unknown = JSON.parse(value);
    return typeof inner === 'object' && inner !== null ? { json: shapeOf(inner) } : 'text';
  } catch {
    return 'text';
  }
}

/** All strings of a value, and of JSON in them. */
function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') {
    try {
      const inner: unknown = JSON.parse(value);
      if (typeof inner === 'object' && inner !== null) return stringsIn(inner);
    } catch {
      // plain text
    }
    return [value];
  }
  if (typeof value !== 'object' || value === null) return [];
  return [...Object.keys(value), ...Object.values(value).flatMap(stringsIn)];
}
