// How much of its input a framer has dealt with: another framer can read on from there, and no message is lost or read
// twice, wherever the input was cut.
import { expect, test } from 'vitest';
import { DEFAULTS } from '../../../src/config/defaults.ts';
import { Framer } from '../../../src/rpc/framer.ts';

function createFramer(onMessage: (value: unknown) => void): Framer {
  return new Framer({
    limitBytes: 1 << 20,
    shape: DEFAULTS.messageShape,
    headers: 'any',
    onMessage: ({ value }) => onMessage(value),
    onNoise: () => {},
    onBroken: () => {},
    onOversize: () => {},
  });
}

const one = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const two = '{"jsonrpc":"2.0","id":2,"method":"ü 😀"}';
const pretty = JSON.stringify(JSON.parse(one), null, 2);
const framed = (body: string) => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

test.each([
  ['lines', `${one}\n${two}\r\n\n${one}\n`],
  ['lines with other text', `hello\n${one}\nworld\n\n${two}\n`],
  ['headers', `${framed(one)}${framed(two)}${framed(one)}`],
  ['several lines', `${pretty}\n${two}\n${pretty}\n`],
  ['batches', `[${one},${two}]\n${one}\n`],
])('%s can be cut anywhere', (_how, text) => {
  const bytes = Buffer.from(text);
  const expected: unknown[] = [];
  createFramer((value) => expected.push(value)).push(bytes);
  expect(expected.length).toBeGreaterThan(1);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const values: unknown[] = [];
    const first = createFramer((value) => values.push(value));
    first.push(bytes.subarray(0, cut));
    expect(first.settledBytes).toBeLessThanOrEqual(cut);
    createFramer((value) => values.push(value)).push(bytes.subarray(first.settledBytes));
    expect(values).toEqual(expected);
  }
  const bytewise = createFramer(() => {});
  for (const byte of bytes) bytewise.push(Buffer.of(byte));
  expect(bytewise.settledBytes).toBe(bytes.length);
});

test('a message that is too long is not waited for', () => {
  const framer = createFramer(() => {});
  framer.push(Buffer.from(`{"x":"${'y'.repeat(2 << 20)}`));
  expect(framer.settledBytes).toBeGreaterThan(2 << 20);
});
