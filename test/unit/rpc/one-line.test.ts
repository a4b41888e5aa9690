import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeMessage } from '../../../src/rpc/framing.ts';
import { toLine, toOneLine } from '../../../src/rpc/one-line.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import {
  ANY_LINE_BREAK,
  CONTROL_BREAKS,
  expectOneLine,
  isBlank,
  LINE_BREAKS,
  messagesOf,
  withHidden,
} from '../../support/line-breaks.ts';

describe.each(Object.entries(LINE_BREAKS))('%s', (_name, lineBreak) => {
  const json = withHidden(lineBreak);

  test('is removed from the message; values and number literals stay', async () => {
    const line = toOneLine(json);
    await expectOneLine(line);
    expect(JSON.parse(line)).toEqual(JSON.parse(json));
    expect(line).toContain('"big":12345678901234567890,"one":1.0');
  });

  test('does not split a message in newline framing', async () => {
    const bytes = Buffer.from(encodeMessage(json, 'newline') + encodeMessage(json, 'newline'));
    expect(await messagesOf(bytes)).toEqual([JSON.parse(json), JSON.parse(json)]);
  });

  test('does not reach the body in Content-Length framing, and the length matches the body', async () => {
    const [header = '', body = ''] = encodeMessage(json, 'content-length').split('\r\n\r\n');
    await expectOneLine(body);
    expect(header).toBe(`Content-Length: ${Buffer.byteLength(body)}`);
  });

  test('is removed from JSON inside a string', async () => {
    const { text, value } = Verbatim.parse(json);
    await expectOneLine(text);
    expect(value).toEqual(JSON.parse(json));
    expect(text).toContain('12345678901234567890');
  });

  test('is found at either end and next to characters of any length', () => {
    const text = isBlank(lineBreak)
      ? ['', '["é"', ',"漢"', ',"😀"]', ''].join(lineBreak)
      : `"${['', 'é', '漢', '😀', ''].join(lineBreak)}"`;
    expect(toOneLine(text)).not.toMatch(ANY_LINE_BREAK);
    expect(JSON.parse(toOneLine(text))).toEqual(JSON.parse(text));
  });
});

test.each(CONTROL_BREAKS)('%j cannot reach a message: it makes JSON invalid', (lineBreak) => {
  expect(() => Verbatim.parse(`{"x":${lineBreak}1}`)).toThrow(SyntaxError);
  expect(() => Verbatim.parse(`{"x":"${lineBreak}"}`)).toThrow(SyntaxError);
});

test('a message without line breaks is unchanged', () => {
  const json = '{ "a\\n" : "\\u2028 \\r é 漢 😀" , "b" : 1.0 }';
  expect(toOneLine(json)).toBe(json);
  expect(toLine(json)).toBe(`${json}\n`);
});

test('line breaks megabytes apart are all found', () => {
  const filler = 'é'.repeat(1 << 20);
  const json = `[\r"${filler}\u2028${filler}",\n"${filler}\u0085"\r\n]`;
  expect(toOneLine(json)).toBe(`[ "${filler}\\u2028${filler}", "${filler}\\u0085"  ]`);
});

test('any value in any layout keeps its meaning as one line', () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom(...Object.values(LINE_BREAKS), ...CONTROL_BREAKS, '\\', '"', 'é', '漢', '😀'),
      fc.string({ minLength: 1, maxLength: 1 }),
    ),
  });
  const value = fc.letrec((tie) => ({
    any: fc.oneof(text, fc.integer(), fc.boolean(), tie('array'), tie('object')),
    array: fc.array(tie('any'), { maxLength: 4 }),
    object: fc.dictionary(text, tie('any'), { maxKeys: 4 }),
  })).any;
  const indent = fc.constantFrom('', '  ', '\t', '\r', '\n', '\r\n ');
  fc.assert(
    fc.property(value, indent, (some, blanks) => {
      const written = JSON.stringify(some, null, 1).replaceAll('\n', `\n${blanks}`);
      const line = toOneLine(written);
      expect(line).not.toMatch(ANY_LINE_BREAK);
      expect(JSON.parse(line)).toEqual(JSON.parse(written));
    }),
  );
});
