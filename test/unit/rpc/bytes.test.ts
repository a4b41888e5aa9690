import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decode, PieceList } from '../../../src/rpc/bytes.ts';

test('pieces of any size are joined, repeatedly', () => {
  const pieces = fc.array(fc.nat({ max: 40_000 }), { maxLength: 12 });
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 4 }), (messages) => {
      const list = new PieceList();
      for (const sizes of messages) {
        const buffers = sizes.map((size, index) => Buffer.alloc(size, index));
        for (const buffer of buffers) list.append(buffer);
        const expected = Buffer.concat(buffers);
        expect(list.length).toBe(expected.length);
        expect(list.take().equals(expected)).toBe(true);
        expect(list.length).toBe(0);
      }
    }),
    { numRuns: 50 },
  );
});

test('kept bytes do not change when their chunk is reused', () => {
  const list = new PieceList();
  const chunk = Buffer.from('small');
  list.append(chunk);
  chunk.fill('-');
  expect(list.take().toString()).toBe('small');
});

test('text is decoded the same, whichever path is faster', () => {
  for (const text of ['a', '\u0080', 'é', 'ÿ', 'Ā', '漢', '\ufeff', '🦊', '\u{10ffff}']) {
    for (const long of [
      `${'x'.repeat(5_000)}${text}`,
      text.repeat(5_000),
      `${text}é`.repeat(5_000),
    ]) {
      expect(decode(Buffer.from(long)) === long).toBe(true);
    }
  }
  expect(decode(Buffer.from([0x61, 0xff]))).toBe('a\ufffd');
});

test('invalid UTF-8 is decoded as Node does, at any length', () => {
  for (const wrong of [[0xff], [0xc3], [0xe6, 0xbc], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
    const bytes = Buffer.concat([Buffer.from('é'.repeat(5_000)), Buffer.from(wrong)]);
    expect(decode(bytes) === bytes.toString()).toBe(true);
  }
});

test('any text is decoded the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
      const long = text.repeat(Math.ceil(5_000 / text.length));
      expect(decode(Buffer.from(long)) === long).toBe(true);
    }),
  );
});
