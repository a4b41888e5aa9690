// Large messages are read piece by piece. Whatever comes out must be what JSON.parse makes of the whole text, and what is
// forwarded must be the bytes that came.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULTS } from '../../../src/config/defaults.ts';
import { type LargeJson, LargeReader } from '../../../src/rpc/large-json.ts';
import { LargeVerbatim } from '../../../src/rpc/large-verbatim.ts';
import { toOneLine } from '../../../src/rpc/one-line.ts';
import type { ShapeLimits } from '../../../src/rpc/shape.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { startFramer } from './frame-all.ts';

const LIMITS: ShapeLimits = DEFAULTS.messageShape;
const LONG = 'long text '.repeat(500);

function read(pieces: readonly Buffer[], limits = LIMITS): LargeJson | undefined {
  const reader = new LargeReader();
  for (const piece of pieces) reader.push(piece);
  return reader.finish(pieces, limits);
}

function readText(text: string): LargeJson | undefined {
  return read([Buffer.from(text)]);
}

/** Cuts bytes at these places. Each piece has memory of its own, at any alignment. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted(
    (a, b) => a - b,
  );
  return [...at, bytes.length].map((end, index) => {
    const start = index === 0 ? 0 : (at[index - 1] ?? 0);
    const room = Buffer.alloc(end - start + (index % 4));
    bytes.copy(room, index % 4, start, end);
    return room.subarray(index % 4);
  });
}

const short = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('"', '\\', '\\"', '\u0000', '\u2028', '\u0085', '🎉 é 漢字', '}', '\\u00'),
);
/** Long enough to be left out of the outline, or nearly. */
const long = fc
  .tuple(short, fc.integer({ min: 3_900, max: 6_000 }), short)
  .map(([begin, length, end]) => begin + (begin + 'x').repeat(length).slice(0, length) + end);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    short,
    long,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, {}, []),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(short, tie('value'), { maxKeys: 4 }),
  ),
}));
const message = fc.record({ jsonrpc: fc.constant('2.0'), id: fc.integer(), result: value });
const places = fc.array(fc.nat(), { maxLength: 12 });

describe('a large message', () => {
  test('has the same value and text, wherever it was cut', () => {
    const check = (sent: unknown, cuts: number[], indent: boolean): boolean => {
      const text = JSON.stringify(sent, undefined, indent ? '\t' : '').replaceAll('\n', ' ');
      const bytes = Buffer.from(text);
      const json = read(cut(bytes, cuts));
      const isPlain = toOneLine(text) === text;
      if (!isPlain || !json) return !isPlain && !json;
      const got = LargeVerbatim.from(json);
      const wanted = new Verbatim(text, JSON.parse(text));
      const result = got.member('result');
      expect(Buffer.concat(result?.pieces ?? []).toString()).toBe(wanted.member('result')?.text);
      expect(got.text).toBe(text);
      expect(result?.byteLength).toBe(Buffer.byteLength(wanted.member('result')?.text ?? ''));
      expect(JSON.stringify(got.value)).toBe(JSON.stringify(wanted.value));
      expect(got.value).toEqual(wanted.value);
      return true;
    };
    fc.assert(fc.property(message, places, fc.boolean(), check), { numRuns: 150 });
  });

  test('is left to others if it was damaged', () => {
    const check = (sent: unknown, cuts: number[], at: number, byte: number): void => {
      const bytes = Buffer.from(JSON.stringify(sent));
      bytes[at % bytes.length] = byte;
      const json = read(cut(bytes, cuts));
      if (!json) return;
      const text = bytes.toString();
      expect(Buffer.from(text).equals(bytes)).toBe(true); // valid UTF-8
      expect(toOneLine(text)).toBe(text);
      expect(json.value).toEqual(JSON.parse(text));
    };
    const byte = fc.oneof(
      fc.integer({ min: 0, max: 255 }),
      fc.constantFrom(0x22, 0x5c, 0x0a, 0x1f, 0x2c, 0x7d),
    );
    fc.assert(fc.property(message, places, fc.nat(), byte, check), { numRuns: 300 });
  });

  test.each([
    ['a control character', `{"a":"${LONG}\u0001"}`],
    ['a tab', `{"a":"${LONG}\t"}`],
    ['an unknown escape', `{"a":"${LONG}\\x"}`],
    ['half an escape', `{"a":"${LONG}\\u12g4"}`],
    ['an escaped quote at its end', `{"a":"${LONG}\\"}`],
    ['a missing bracket', `{"a":"${LONG}"`],
    ['a missing comma', `{"a":"${LONG}" "b":1}`],
    ['text behind it', `{"a":"${LONG}"} ok`],
    ['a line break between its parts', `{"a":"${LONG}",\r"b":1}`],
    ['a line separator in a string', `{"a":"${LONG}\u2028"}`],
    ['a long key', `{"${LONG}":1}`],
    ['a repeated key', `{"a":"${LONG}","a":1}`],
  ])('is left to others if it has %s', (_what, text) => {
    expect(readText(text)).toBeUndefined();
  });

  test('is left to others if it has invalid bytes', () => {
    const bytes = Buffer.from(`{"a":"${LONG}é"}`);
    const at = bytes.indexOf(0xc3);
    const broken = Buffer.concat([bytes.subarray(0, at + 1), bytes.subarray(at + 2)]);
    expect(read([broken])).toBeUndefined();
    expect(read([broken.subarray(0, at + 1), broken.subarray(at + 1)])).toBeUndefined();
    expect(read([bytes.subarray(0, at + 1), bytes.subarray(at + 1)])).toBeDefined();
  });

  test('is left to others if it exceeds a limit, however small its outline is', () => {
    const bytes = Buffer.from(`{"a":"${LONG}","b":[[1,2,3]]}`);
    expect(read([bytes], { depth: 3, members: 6 })).toBeDefined();
    expect(read([bytes], { depth: 2, members: 6 })).toBeUndefined();
    expect(read([bytes], { depth: 3, members: 5 })).toBeUndefined();
  });

  test('may have a carriage return at its end, which is not part of a member', () => {
    const json = readText(`{"id":1,"result":{"a":"${LONG}"}}\r`) as LargeJson;
    const { pieces } = LargeVerbatim.from(json).member('result') ?? {};
    expect(Buffer.concat(pieces ?? []).toString()).toBe(`{"a":"${LONG}"}`);
  });

  test('has members that can be replaced', () => {
    const json = readText(`{"é":"${LONG}","b":1.0}`) as LargeJson;
    const changed = LargeVerbatim.from(json).with('b', Verbatim.of(2));
    expect(changed.text).toBe(`{"é":"${LONG}","b":2}`);
    expect(changed.value).toEqual({ é: LONG, b: 2 });
    expect(LargeVerbatim.from(json).member('é')?.text).toBe(JSON.stringify(LONG));
    expect(LargeVerbatim.from(json).member('b')?.text).toBe('1.0');
    expect(LargeVerbatim.from(json).member('c')).toBeUndefined();
  });
});

describe('a framer', () => {
  const text = 'x'.repeat(700_000);
  const large = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text } });
  const small = '{"jsonrpc":"2.0","method":"after"}';

  function frame(input: string, limits: { limitBytes?: number } = {}) {
    const found: unknown[] = [];
    const { framer, framed } = startFramer({
      ...limits,
      onLarge: (json) => {
        found.push(json.value);
        framed.messages.push({ text: '', value: json.value, framing: 'newline' });
      },
    });
    const bytes = Buffer.from(input);
    for (let at = 0; at < bytes.length; at += 65_536) framer.push(bytes.subarray(at, at + 65_536));
    framer.end();
    return { ...framed, found };
  }

  test('reports large messages in their place', () => {
    const { messages, found } = frame(`${small}\n${large}\n${small}\n${large}`);
    const method = JSON.parse(small) as unknown;
    const result = JSON.parse(large) as unknown;
    expect(messages.map((one) => one.value)).toEqual([method, result, method, result]);
    expect(found).toHaveLength(2);
  });

  test('reads what is unusual as before', () => {
    const items = Array.from({ length: 200_000 }, (_, index) => index);
    const many = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { items } });
    const spread = `{"jsonrpc":"2.0",\n"id":1,"result":"${text}"}`;
    const broken = large.replace('}}', '}');
    const { messages, found, broken: reported } = frame(`${many}\n${spread}\n${broken}\n${small}`);
    expect(messages.map((one) => one.value)).toEqual(
      [many, spread, small].map((one) => JSON.parse(one) as unknown),
    );
    expect(found).toEqual([]);
    expect(reported).toMatchObject([{ reason: 'invalid-json' }]);
  });

  test('still drops messages beyond the limit', () => {
    const { messages, oversize } = frame(`${large}\n${small}\n`, { limitBytes: 600_000 });
    expect(messages.map((one) => one.value)).toEqual([JSON.parse(small)]);
    expect(oversize.at(-1)).toMatchObject({ complete: true, bytesSoFar: large.length });
  });
});
