import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decode, PieceList } from '../../../src/rpc/bytes.ts';

test('pieces of any size come out joined, again and again', () => {
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

test('what was kept of a chunk does not change when the chunk is used again', () => {
  const list = new PieceList();
  const chunk = Buffer.from('small');
  list.append(chunk);
  chunk.fill('-');
  expect(list.take().toString()).toBe('small');
});

test('text is decoded alike, whatever is chosen for speed', () => {
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

test('what is no UTF-8 is decoded as Node does, however long it is', () => {
  for (const wrong of [[0xff], [0xc3], [0xe6, 0xbc], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
    const bytes = Buffer.concat([Buffer.from('é'.repeat(5_000)), Buffer.from(wrong)]);
    expect(decode(bytes) === bytes.toString()).toBe(true);
  }
});

test('any text is decoded alike', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
      const long = text.repeat(Math.ceil(5_000 / text.length));
      expect(decode(Buffer.from(long)) === long).toBe(true);
    }),
  );
});
