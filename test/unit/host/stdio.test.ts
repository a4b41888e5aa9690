import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { DEFAULTS } from '../../../src/config/defaults.ts';
import { StdioHost } from '../../../src/host/stdio.ts';
import { onBug } from '../../support/fake-child.ts';

function createHost() {
  const input = new PassThrough();
  const output = new PassThrough({ highWaterMark: 1024 });
  const backlog: string[] = [];
  const received: unknown[] = [];
  const host = new StdioHost({
    input,
    output,
    messageLimits: { limitBytes: 4096, shape: DEFAULTS.messageShape },
    onFull: () => backlog.push('full'),
    onDrained: () => backlog.push('drained'),
    onGivenUp: () => backlog.push('given up'),
    onBug,
  });
  const listening = host.listen({
    receive: ({ value }) => received.push(value),
    receiveBroken: ({ reason }) => received.push(reason),
    receiveOversize: ({ complete }) => complete && received.push('too large'),
  });
  return { input, output, host, listening, backlog, received };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('valid, broken and oversized messages are delivered in order', async () => {
  const { input, listening, received } = createHost();
  input.write('{"a":1}\nnoise\n{"b":\n{"jsonrpc":"2.0","c":3}\n');
  input.write(`{"big":"${'x'.repeat(5_000)}"}\n{"d":4}\n`);
  input.end();
  await listening;

  expect(received).toEqual([
    { a: 1 },
    'invalid-json',
    { jsonrpc: '2.0', c: 3 },
    'too large',
    { d: 4 },
  ]);
});

test('a message that ends with the stream instead of a line is read', async () => {
  const { input, listening, received } = createHost();
  input.end('{"last":1}');
  await listening;

  expect(received).toEqual([{ last: 1 }]);
});

test('a host that stops reading is noticed, and also when it reads again', async () => {
  const { host, output, backlog } = createHost();
  host.send(JSON.stringify('x'.repeat(5 << 20)), 'newline');
  await settled();
  host.send('{}', 'newline');
  expect(backlog).toEqual(['full']);

  output.resume();
  await new Promise((resolve) => output.once('drain', resolve));
  expect(backlog).toEqual(['full', 'drained']);
});

test('a host whose queue exceeds the limit loses its connection', async () => {
  const { host, listening, backlog } = createHost();
  const json = JSON.stringify('x'.repeat(60 << 20));
  for (let sent = 0; sent < 4; sent++) {
    host.send(json, 'newline');
    await settled();
  }
  expect(backlog).toEqual(['full']);

  host.send(json, 'newline');
  await host.gone;
  await listening;
  host.send(json, 'newline');
  expect(backlog).toEqual(['full', 'given up']);
});

test('a broken output stops listening', async () => {
  const { output, listening } = createHost();
  output.destroy(new Error('EPIPE'));
  await expect(listening).resolves.toBeUndefined();
});
