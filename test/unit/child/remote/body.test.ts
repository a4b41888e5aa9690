import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventReader, type ServerEvent } from '../../../../src/child/remote/events.ts';
import { OpenBodies, Oversize, readBeginning, readText } from '../../../../src/net/body.ts';

/** Reads pieces as they would come from the network. */
function readEvents(pieces: readonly Buffer[], limitBytes = 1 << 20): ServerEvent[] {
  const events: ServerEvent[] = [];
  const reader = new EventReader(limitBytes, { onEvent: (one) => events.push(one) });
  for (const piece of pieces) reader.push(piece);
  reader.end();
  return events;
}

/** Cuts bytes at the given places, which may be anywhere, also inside a character. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  return [0, ...sorted].map((start, index) => bytes.subarray(start, sorted[index] ?? bytes.length));
}

const dataOf = (events: readonly ServerEvent[]) => events.map(({ data }) => data);

describe('a stream of events', () => {
  test('parses the same, wherever it was cut and however its lines end', () => {
    const message = fc
      .record({ id: fc.nat(), text: fc.string({ unit: 'binary' }), deep: fc.jsonValue() })
      .map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 6 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.array(fc.nat(), { maxLength: 12 }),
        fc.array(fc.constantFrom(': a comment', 'event: message', 'unknown: field', ':')),
        (messages, lineEnd, places, others) => {
          const lines = messages.flatMap((text) => [...others, `data: ${text}`, '']);
          const bytes = Buffer.from(lines.map((line) => line + lineEnd).join(''));
          expect(dataOf(readEvents(cut(bytes, places)))).toEqual(messages);
        },
      ),
    );
  });

  test('a message over several data lines is joined with line feeds', () => {
    const bytes = Buffer.from('data: {"a":\r\ndata: 1}\r\n\r\n');
    expect(dataOf(readEvents([bytes]))).toEqual(['{"a":\n1}']);
  });

  test('an event that ends in a lone CR does not wait for what follows', () => {
    const events: ServerEvent[] = [];
    const reader = new EventReader(1_000, { onEvent: (one) => events.push(one) });
    reader.push(Buffer.from('data: now\r\r'));
    expect(dataOf(events)).toEqual(['now']);
    reader.push(Buffer.from('\ndata: next\r\n\r'));
    expect(dataOf(events)).toEqual(['now', 'next']);
  });

  test('ids, types and retry times are reported', () => {
    const waits: number[] = [];
    const events: ServerEvent[] = [];
    const reader = new EventReader(1_000, {
      onEvent: (one) => events.push(one),
      onRetry: (ms) => waits.push(ms),
    });
    reader.push(Buffer.from('retry: 25\nid: 7\nevent: endpoint\ndata: /x\n\n'));
    expect(events).toEqual([{ type: 'endpoint', id: '7', data: '/x' }]);
    expect(waits).toEqual([25]);
  });

  test('a leading byte order mark is ignored', () => {
    expect(dataOf(readEvents([Buffer.from('\ufeffdata: a\n\n')]))).toEqual(['a']);
  });

  test('the last event counts without a trailing empty line', () => {
    expect(dataOf(readEvents([Buffer.from('data: whole\n')]))).toEqual(['whole']);
    expect(dataOf(readEvents([Buffer.from('data: whole')]))).toEqual(['whole']);
  });

  test('an event may be as large as the limit, and no larger', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.constantFrom('x', 'ü', '語', '🦊'),
        fc.array(fc.nat(), { maxLength: 5 }),
        (count, letter, places) => {
          const data = letter.repeat(count);
          const bytes = Buffer.from(`: hello\n\ndata: ${data}\n\n`);
          const size = Buffer.byteLength(data);
          expect(dataOf(readEvents(cut(bytes, places), size))).toEqual([data]);
          expect(() => readEvents(cut(bytes, places), size - 1)).toThrow(Oversize);
        },
      ),
    );
  });

  test('an endless event is given up at the limit', () => {
    const reader = new EventReader(1 << 16, { onEvent: () => {} });
    let sent = 0;
    const piece = Buffer.from('x'.repeat(4_096));
    expect(() => {
      reader.push(Buffer.from('data: '));
      for (; sent < 1 << 24; sent += piece.length) reader.push(piece);
    }).toThrow(Oversize);
    expect(sent).toBeLessThan((1 << 16) + 2 * piece.length);
  });

  test('endless comments are not kept', () => {
    const reader = new EventReader(1_000, { onEvent: () => {} });
    const piece = Buffer.from(': still here\n'.repeat(1_000));
    const flood = (): void => {
      for (let sent = 0; sent < 1 << 24; sent += piece.length) reader.push(piece);
    };
    expect(flood).not.toThrow();
  });
});

describe('a body', () => {
  test('is one string, wherever it was cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
        fc.array(fc.nat(), { maxLength: 8 }),
        async (text, places) => {
          const body = new PassThrough();
          for (const piece of cut(Buffer.from(`\ufeff ${text}\n`), places)) body.write(piece);
          body.end();
          expect(await readText(body, 1 << 20)).toBe(text);
        },
      ),
    );
  });

  test('is not read beyond the limit', async () => {
    const body = new PassThrough();
    body.write(Buffer.alloc(2_000));
    await expect(readText(body, 1_000)).rejects.toThrow(Oversize);
    expect(body.destroyed).toBe(true);
  });

  test('that breaks off is a failure, not a short text', async () => {
    const body = new PassThrough();
    const read = readText(body, 1_000);
    body.write('{"half":');
    body.destroy();
    await expect(read).rejects.toThrow('The response was cut off.');
  });

  test('for quoting returns what arrives in time', async () => {
    const body = new PassThrough();
    body.write('first words');
    expect(await readBeginning(body, 1_000, 20)).toBe('first words');
    expect(body.destroyed).toBe(true);
  });

  test('waits while reading is paused, even one that starts meanwhile', async () => {
    const bodies = new OpenBodies();
    const body = new PassThrough();
    bodies.pause();
    bodies.add(body);
    let isRead = false;
    const read = readText(body, 1_000).then((text) => {
      isRead = true;
      return text;
    });
    body.end('text');
    await new Promise((resolve) => setImmediate(resolve));
    expect(isRead).toBe(false);
    bodies.resume();
    expect(await read).toBe('text');
  });
});
