import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { StderrReader } from '../../../src/child/stderr.ts';
import { onBug } from '../../support/fake-child.ts';

function createReader(...secrets: string[]) {
  const stream = new PassThrough();
  const lines: string[] = [];
  const reader = new StderrReader(stream, {
    secrets,
    onStderr: (line) => lines.push(line),
    onBug,
  });
  return { stream, lines, reader };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('lines arrive whole, however they were cut', async () => {
  const { stream, lines } = createReader();
  const bytes = Buffer.from('one\nžluť 🦊\nlast');
  for (const byte of bytes) stream.write(Buffer.from([byte]));
  stream.end();
  await settled();

  expect(lines).toEqual(['one', 'žluť 🦊', 'last']);
});

test('a secret is masked, even across two chunks', async () => {
  const { stream, lines, reader } = createReader('hunter2hunter2');
  stream.write('token hunter2');
  stream.write('hunter2 refused\n');
  await settled();

  expect(lines).toEqual(['token *** refused']);
  expect(reader.tail).toBe('token *** refused');
});

test('a secret in an endless line is masked wherever the line is cut', async () => {
  for (const before of [16_370, 16_383, 16_384, 20_000]) {
    const { stream, lines } = createReader('hunter2hunter2');
    const line = `${'x'.repeat(before)}hunter2hunter2${'y'.repeat(20_000)}`;
    for (let at = 0; at < line.length; at += 7) stream.write(line.slice(at, at + 7));
    stream.end();
    await settled();

    expect(lines.join('')).toBe(`${'x'.repeat(before)}***${'y'.repeat(20_000)}`);
  }
});

test('a wrapped secret is masked on both lines', async () => {
  const { stream, lines } = createReader('hunter2hunter2hunter2');
  stream.write('token hunter2hunter2\n  hunter2 refused\ntoken hunter\n2hunter2hunter2 refused\n');
  await settled();
  expect(lines).toEqual(['token ***', '  hunter2 refused', 'token hunter', '*** refused']);
});

test('a colour code inside a secret does not hide it', async () => {
  const { stream, lines } = createReader('hunter2hunter2');
  stream.write('token hunter2\u001b[0mhunter2 refused\n');
  await settled();
  expect(lines).toEqual(['token *** refused']);
});

test('the last lines are kept, shortened and without terminal sequences', async () => {
  const { stream, reader } = createReader();
  for (let line = 1; line <= 20; line++) stream.write(`\u001b[31mline ${line}\u001b[0m\n`);
  stream.write('z'.repeat(1_000));
  await settled();

  expect(reader.tail.split('\n')).toEqual([
    ...Array.from({ length: 8 }, (_, index) => `line ${index + 13}`),
    'z'.repeat(400),
  ]);
});

test('a secret in an unfinished line is masked in the last lines, even half of it', async () => {
  const { stream, reader } = createReader('hunter2hunter2');
  stream.write('token=hunter2hunter2');
  await settled();
  expect(reader.tail).toBe('token=***');

  const half = createReader('hunter2hunter2');
  half.stream.write('token=hunter2hun');
  await settled();
  expect(half.reader.tail).toBe('token=***');
});
