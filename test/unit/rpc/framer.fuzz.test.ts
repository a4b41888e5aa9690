// Random streams: messages in every framing and dress between noise of every kind, cut anywhere.
// The messages that come out must be those that went in, whatever surrounds them.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeMessage } from '../../../src/rpc/framing.ts';
import { frameChunks } from './frame-all.ts';

/** A piece of the stream, and the messages that must come out of it. */
interface Item {
  readonly bytes: Buffer;
  readonly messages: readonly unknown[];
}

/** Texts that look like structure and are none, being inside a JSON string. */
const trickyText = fc.constantFrom(
  'Content-Length: 5\r\n\r\n',
  '{"jsonrpc":"2.0","id":9,"method":"fake"}',
  '\n{"jsonrpc":"2.0","id":9,"method":"fake"}\n',
  '\u2028\u2029',
  '\ufeff',
  '\u0000\u001b[31m',
  '🎉 é 漢字',
  '\\',
  '"',
  '\\"',
  '}}]]',
  '{[',
);
const text = fc.oneof(trickyText, fc.string({ maxLength: 12 }), fc.string({ unit: 'binary' }));
const { payload } = fc.letrec<{ payload: unknown; value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false, {}, []),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('payload'),
  ),
  // Keys never read "jsonrpc": in JSON without indentation an element of an array stands at the
  // first column exactly as a message does, and nothing but that word tells the two apart.
  payload: fc.dictionary(
    text.filter((key) => key !== 'jsonrpc' && key !== '__proto__'),
    tie('value'),
    { maxKeys: 4 },
  ),
}));

const id = fc.oneof(fc.integer(), text);
const message = fc.oneof(
  fc.record({ jsonrpc: fc.constant('2.0'), id, method: text, params: payload }),
  fc.record({ jsonrpc: fc.constant('2.0'), method: text, params: payload }),
  fc.record({ jsonrpc: fc.constant('2.0'), id, result: payload }),
  fc.record({ result: payload, jsonrpc: fc.constant('2.0'), id }),
  fc.record({ jsonrpc: fc.constant('2.0'), id, error: payload }),
);

/** Text that may stand before a message on its line. */
const prefix = fc.constantFrom(
  'Server ready ',
  '[info] ',
  '[12:30:01] [x] ',
  '2026-01-01T00:00:00Z ',
  'true: ',
  '"quoted" ',
  "it's {x} and {'y': 1} ",
  '{"level":"info"} ',
  'unclosed " and \\ ',
  'open { ',
  '- ',
  '漢字🎉 ',
);
const lineEnd = fc.constantFrom('\n', '\r\n');
const colour = fc.constantFrom('\u001b[32m', '\u001b[1;31m', '\u001b[0m', '\u001b]0;t\u0007');

function item(input: string | Buffer, ...messages: unknown[]): Item {
  return { bytes: Buffer.from(input), messages };
}

function prettyPrint(value: unknown, indent: number): string {
  if (indent > 0) return JSON.stringify(value, null, indent);
  return JSON.stringify(value, null, 1).replace(/^ +/gm, '');
}

const onLine = fc
  .tuple(message, lineEnd)
  .map(([value, end]) => item(JSON.stringify(value) + end, value));

const withLength = fc
  .tuple(
    message,
    fc.constantFrom('', '\n', '\r\n'),
    fc.constantFrom('', 'Content-Type: application/json; charset=utf-8\r\n'),
    fc.nat(2),
  )
  .map(([value, end, type, indent]) => {
    const body = JSON.stringify(value, null, indent);
    return item(type + encodeMessage(body, 'content-length') + end, value);
  });

const pretty = fc
  .tuple(message, fc.nat(4), lineEnd)
  .map(([value, indent, end]) =>
    item(prettyPrint(value, indent).replaceAll('\n', end) + end, value),
  );

const batch = fc
  .tuple(fc.array(message, { minLength: 1, maxLength: 3 }), fc.boolean())
  // Only with indentation: without, its messages are delivered one by one (see `payload`).
  .map(([values, onOneLine]) =>
    item(`${onOneLine ? JSON.stringify(values) : prettyPrint(values, 2)}\n`, values),
  );

const dressed = fc.oneof(
  fc
    .tuple(prefix, message)
    .map(([before, value]) => item(`${before}${JSON.stringify(value)}\n`, value)),
  // Among these is one that opens a block of its own behind the message.
  fc
    .tuple(message, prefix)
    .map(([value, after]) => item(`${JSON.stringify(value)} ${after}\n`, value)),
  fc
    .tuple(
      fc.constantFrom('Server ready ', '[info] ', "{'y': 1} "),
      message,
      fc.integer({ min: 1, max: 4 }),
    )
    .map(([before, value, indent]) => item(`${before}${prettyPrint(value, indent)}\n`, value)),
  fc
    .tuple(colour, message, colour, lineEnd)
    .map(([before, value, after, end]) =>
      item(before + JSON.stringify(value) + after + end, value),
    ),
  fc
    .tuple(colour, message)
    .map(([code, value]) =>
      item(`${code}${prettyPrint(value, 2).replaceAll('\n', `\u001b[0m\n${code}`)}\n`, value),
    ),
  fc
    .tuple(message, lineEnd)
    .map(([value, end]) => item(`\ufeff${JSON.stringify(value)}${end}`, value)),
  message.map((value) => item(`\u0000${JSON.stringify(value)}\u0000\n`, value)),
  fc
    .tuple(message, fc.constantFrom('', ' ', ' then '), message)
    .map(([one, between, two]) =>
      item(`${JSON.stringify(one)}${between}${JSON.stringify(two)}\n`, one, two),
    ),
);

/**
 * None of it whole JSON, for an object alone on its line is delivered; and no line that could be the
 * end of the half messages here, since together they would be a message indeed.
 */
const quietNoise = fc.constantFrom(
  'Server listening on stdio\n',
  'Warning: x\n',
  '[info] started {fast}\n',
  '[12:30] x\n',
  '\n',
  ' \r\n',
  '\u0000\u0000\n',
  '}\n',
  'null\n',
  '42\n',
  '"text"\n',
  "{'python': True}\n",
  '\u001b[31mred\u001b[0m\n',
  'Content-Length: many\n',
  'Content-Length: 5\nis what it said\n',
  'Content-Type: text/plain\nsaid the log\n',
  '\ufeff\n',
);
/** Beginnings of JSON that never end. */
const halfNoise = fc.constantFrom(
  '{"half":\n',
  '{\n',
  '[\n',
  '[{\n',
  '{"half": [\n',
  '{"half": [1, {"a": \n',
  '{"half": "cut\n',
  '{"jsonrpc":"2.0","id":1,"params":{"a":[\n',
  '{\n  "jsonrpc": "2.0",\n  "id": 1,\n  "params": {\n    "list": [\n',
  'const x = {\n',
  'const x = {"jsonrpc": [\n',
);
const noise = fc.oneof(
  quietNoise.map((line) => item(line)),
  halfNoise.map((line) => item(line)),
  fc.constant({ bytes: Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x0a]), messages: [] }),
  // Random text, without what makes it JSON or a header.
  fc.string().map((random) => item(`${random.replace(/[{}[\]":\r\n]/g, '')}x\n`)),
);

const fromChild = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: onLine },
    { weight: 2, arbitrary: withLength },
    { weight: 2, arbitrary: pretty },
    { weight: 1, arbitrary: batch },
    { weight: 3, arbitrary: dressed },
    { weight: 4, arbitrary: noise },
  ),
  { maxLength: 12 },
);
// A host's lines of the form `Token: value` are headers, so prefixes and log lines stay away.
const fromHost = fc.array(
  fc.oneof(
    onLine,
    withLength,
    pretty,
    batch,
    halfNoise.map((line) => item(line)),
  ),
  {
    maxLength: 12,
  },
);

const cuts = fc.array(fc.nat(), { maxLength: 20 });

function cutAt(bytes: Buffer, positions: readonly number[]): Buffer[] {
  const sorted = positions.map((position) => position % (bytes.length + 1)).sort((a, b) => a - b);
  return [...sorted, bytes.length].map((end, index) => bytes.subarray(sorted[index - 1] ?? 0, end));
}

function byteByByte(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (byte) => Buffer.from([byte]));
}

const bytesOf = (items: readonly Item[]) => Buffer.concat(items.map(({ bytes }) => bytes));
// Through JSON once, as the framer's were: -0 comes back as 0.
const messagesOf = (items: readonly Item[]): unknown =>
  JSON.parse(JSON.stringify(items.flatMap(({ messages }) => messages)));

describe('delivers every message, in order, and nothing else', () => {
  test.each([
    ['child', 'content-length', fromChild],
    ['host', 'any', fromHost],
  ] as const)('from a %s', (_, headers, items) => {
    fc.assert(
      fc.property(items, cuts, (items, positions) => {
        const bytes = bytesOf(items);
        const whole = frameChunks([bytes], { headers });
        expect(whole.messages.map(({ value }) => value)).toEqual(messagesOf(items));
        for (const { text, value } of whole.messages) expect(JSON.parse(text)).toEqual(value);
        expect(frameChunks(cutAt(bytes, positions), { headers })).toEqual(whole);
        expect(frameChunks(byteByByte(bytes), { headers })).toEqual(whole);
      }),
      { numRuns: 1000 },
    );
  });

  test('except oversized ones, which affect only themselves', () => {
    const limitBytes = 20_000;
    const filler = 'x'.repeat(limitBytes);
    const list = Array.from({ length: limitBytes / 4 }, (_, index) => index);
    const huge = fc
      .constantFrom(
        `${JSON.stringify({ jsonrpc: '2.0', id: 1, result: filler })}\n`,
        encodeMessage(JSON.stringify({ jsonrpc: '2.0', id: 1, result: filler }), 'content-length'),
        `${JSON.stringify({ jsonrpc: '2.0', id: 1, result: list }, null, 2)}\n`,
        `${JSON.stringify({ jsonrpc: '2.0', id: 1, result: filler }, null, 2)}\n`,
        `${filler}x\n`,
      )
      .map((text) => item(text));
    const items = fc.array(fc.oneof(onLine, withLength, pretty, huge), { maxLength: 8 });
    fc.assert(
      fc.property(items, cuts, (items, positions) => {
        const { messages, oversize } = frameChunks(cutAt(bytesOf(items), positions), {
          limitBytes,
        });
        expect(messages.map(({ value }) => value)).toEqual(messagesOf(items));
        expect(oversize.filter(({ complete }) => complete)).toHaveLength(
          items.filter((item) => item.bytes.length > limitBytes).length,
        );
      }),
      { numRuns: 200 },
    );
  });
});

test('no bytes make it throw, or depend on chunk boundaries', () => {
  const fragments = [
    ['{', '}', '[', ']', '"', '\\', ':', ',', '\n', '\r\n', ' ', '\u001b[', '\u001b]', '\u0000'],
    ['{"', '":', '"jsonrpc"', '"2.0"', '"id"', '1', 'true', '\ufeff', 'x', 'é', '{"jsonrpc":1}'],
    ['Content-Length: 7', 'Content-Length: 0', 'Content-Length: 99', 'Content-Type: x', '\r\n\r\n'],
  ].flat();
  const fragment = fc.constantFrom(...fragments);
  const chaos = fc.oneof(
    fc.array(fragment, { maxLength: 60 }).map((fragments) => Buffer.from(fragments.join(''))),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  );
  const headers = fc.constantFrom('any' as const, 'content-length' as const);
  const limitBytes = fc.constantFrom(0, 1, 5, 20, 1000);
  fc.assert(
    fc.property(chaos, headers, limitBytes, (bytes, headers, limitBytes) => {
      const whole = frameChunks([bytes], { headers, limitBytes });
      const cut = frameChunks(byteByByte(bytes), { headers, limitBytes });
      // How often an oversize message is reported while it grows depends on the chunks.
      expect({ ...cut, oversize: cut.oversize.filter(({ complete }) => complete) }).toEqual({
        ...whole,
        oversize: whole.oversize.filter(({ complete }) => complete),
      });
      for (const { value } of whole.messages) expect(typeof value).toBe('object');
    }),
    { numRuns: 5000 },
  );
});
