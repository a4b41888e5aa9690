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
  for (const text of ['a', 'é', '漢', '🦊']) {
    const long = `${'x'.repeat(5_000)}${text}`;
    expect(decode(Buffer.from(long))).toBe(long);
  }
  expect(decode(Buffer.from([0x61, 0xff]))).toBe('a\ufffd');
});
