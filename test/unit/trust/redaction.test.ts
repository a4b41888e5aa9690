import { describe, expect, test } from 'vitest';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
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
  const mask = (text: string): string =>
    text.replaceAll(SECRET, '***').replaceAll('12345678', '***');

  test('only strings with a secret change', () => {
    const text = `{ "n": 1.0, "big":123456789012345678901, "s": "a ${SECRET}\\n\\u00e9",\t"t": "\\u0041\\/" }`;
    expect(maskJson(text, mask)).toBe(
      '{ "n": 1.0, "big":123456789012345678901, "s": "a ***\\né",\t"t": "\\u0041\\/" }',
    );
    expect(maskJson('{"a":"b"}', mask)).toBe('{"a":"b"}');
  });

  test('JSON inside a string stays JSON', () => {
    const inner = { pin: 12345678, key: SECRET, list: [`"${SECRET}"`] };
    const outer = JSON.stringify({ text: JSON.stringify({ again: JSON.stringify(inner) }) });
    const { text } = JSON.parse(maskJson(outer, mask)) as { text: string };
    const { again } = JSON.parse(text) as { again: string };
    expect(JSON.parse(again)).toEqual({ pin: 12345678, key: '***', list: ['"***"'] });
  });

  test('words of the protocol are not secrets', () => {
    const hide = (text: string) => (text.length >= 8 ? '***' : text);
    expect(maskJson('{"structuredContent":{"type":"resource_link","x":"whatever"}}', hide)).toBe(
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
    const { found, result } = maskResult(Verbatim.of(resultWith(`is ${written}.`)), values);
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
      const { found, result } = maskResult(given, []);
      expect(found).toEqual([kind]);
      expect(JSON.parse(result.text)).toEqual(resultWith('x\n***\ny'));
    }
  });

  test('a result without secrets is the same object', () => {
    const given = Verbatim.of(resultWith('nothing to hide'));
    expect(maskResult(given, [SECRET])).toEqual({ found: [], result: given });
    expect(maskResult(given, [SECRET]).result).toBe(given);
    expect(noteSecrets(given, [SECRET]).result).toBe(given);
  });

  test('a note is added, and nothing is changed', () => {
    const given = new Verbatim(
      `{"content":[{"type":"text","text":"${GITHUB_TOKEN}"}],"n":1.0,"_meta":{"a":1}}`,
      { content: [{ type: 'text', text: GITHUB_TOKEN }], n: 1, _meta: { a: 1 } },
    );
    const { found, result } = noteSecrets(given, []);
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
    const { result } = noteSecrets(Verbatim.of({ contents: [{ uri: 'x', text: SECRET }] }), [
      SECRET,
    ]);
    expect(result.value).toEqual({
      contents: [{ uri: 'x', text: SECRET }],
      _meta: { 'switchboard/secrets': ['configured value'] },
    });
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
      const { result } = maskResult(given, [SECRET]);
      const after = JSON.stringify(JSON.parse(result.text));
      expect(after).not.toContain(SECRET);
      expect(after).not.toContain(GITHUB_TOKEN);
      const expected = given.text.replaceAll(SECRET, '***').replaceAll(GITHUB_TOKEN, '***');
      expect(after).toBe(JSON.stringify(JSON.parse(expected)));
    }
  });
});
