import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { Outbox } from '../../../src/rpc/outbox.ts';
import { onBug } from '../../support/fake-child.ts';

function createOutbox() {
  const writes: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      writes.push(chunk.toString());
      done();
    },
  });
  return { outbox: new Outbox(stream, onBug), stream, writes };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('messages sent in one turn share one write, in order', async () => {
  const { outbox, writes } = createOutbox();
  outbox.send('{"a":1}', 'newline');
  await Promise.resolve();
  outbox.send('{"b":2}', 'newline');
  await settled();
  outbox.send('{"c":3}', 'content-length');
  await settled();

  expect(writes).toEqual(['{"a":1}\n{"b":2}\n', 'Content-Length: 7\r\n\r\n{"c":3}']);
});

test.each(['x', 'é', '漢'])(
  'large messages keep their place and every character (%s)',
  async (letter) => {
    const { outbox, writes } = createOutbox();
    const large = JSON.stringify(letter.repeat(200_000));
    outbox.send('{"first":1}', 'newline');
    outbox.send(large, 'newline');
    outbox.send('{"last":1}', 'newline');
    await settled();

    expect(writes.join('')).toBe(`{"first":1}\n${large}\n{"last":1}\n`);
  },
);

test('nothing is written to a stream that has ended', async () => {
  const { outbox, stream, writes } = createOutbox();
  stream.end();
  outbox.send('{}', 'newline');
  await settled();

  expect(writes).toEqual([]);
});

test('a message in pieces keeps its place, and becomes one line', async () => {
  const { outbox, writes } = createOutbox();
  outbox.send('{"first":1}', 'newline');
  outbox.sendPieces([Buffer.from('{"text":"'), Buffer.from('abc'), Buffer.from('"}')]);
  outbox.send('{"last":1}', 'newline');
  await settled();

  expect(writes.join('')).toBe('{"first":1}\n{"text":"abc"}\n{"last":1}\n');
});
