// What the framer makes of each kind of input by itself. Mixtures are in framer.fuzz.test.ts.
import { describe, expect, test } from 'vitest';
import { encodeMessage } from '../../../src/rpc/framing.ts';
import { idFromOversize } from '../../../src/rpc/oversize.ts';
import { IS_THOROUGH } from '../../support/slow.ts';
import { frameAll, frameChunks, startFramer } from './frame-all.ts';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const PONG = '{"jsonrpc":"2.0","id":1,"result":{}}';
const NOTE = '{"jsonrpc":"2.0","method":"note","params":{"text":"héllo 🎉 \\u2028 {[\\"}"}}';
const PRETTY = JSON.stringify(JSON.parse(NOTE), null, 2);

const textsOf = (input: string | Buffer, headers: 'any' | 'content-length' = 'content-length') =>
  frameAll(input, { headers }).messages.map(({ text }) => text);
const withLength = (body: string) => encodeMessage(body, 'content-length');

describe('a message on a line', () => {
  test('has its text, its value and its framing', () => {
    expect(frameAll(`${PING}\n`)).toEqual({
      messages: [{ text: PING, value: JSON.parse(PING), framing: 'newline' }],
      noise: [],
      broken: [],
      oversize: [],
    });
  });

  test('keeps its exact text, for forwarding', () => {
    const text = '{ "jsonrpc":"2.0", "id":12345678901234567890, "result":1.0 }';
    expect(textsOf(` ${text} \r\n`)).toEqual([text]);
  });

  test('may be a batch, and an empty one is left to the reader', () => {
    expect(frameAll(`[${PING},${PING}]\n[]\n`).messages.map(({ value }) => value)).toEqual([
      [JSON.parse(PING), JSON.parse(PING)],
      [],
    ]);
  });

  test('is also delivered without JSON-RPC members: the peer decides whether it is valid', () => {
    expect(textsOf('{"level":"info"}\n')).toEqual(['{"level":"info"}']);
  });

  test.each([
    ['CRLF', `${PING}\r\n`],
    ['a byte order mark', `\ufeff${PING}\n`],
    ['NUL bytes', `\0\0${PING}\0\n`],
    ['NUL bytes inside', `{\0${PING.slice(1)}\n`],
    ['blank lines', `\n\r\n  \n${PING}\n\n`],
    ['colours around it', `\u001b[32m${PING}\u001b[0m\n`],
    ['a mark and colours', `\ufeff\u001b[32m${PING}\u001b[0m\n`],
    ['a terminal title before it', `\u001b]0;title\u0007${PING}\n`],
    ['text before it', `Server ready ${PING}\n`],
    ['text with brackets before it', `[info] {ok} {"a":1} it's "so ${PING}\n`],
    ['text after it', `${PING} sent\n`],
    ['a progress bar before it', `10%\r50%\r${PING}\n`],
    ['half a message before it', `{"jsonrpc":"2.0","id":7,"res${PING}\n`],
    [
      'invalid UTF-8 before it',
      Buffer.concat([Buffer.from([0xff, 0xc3]), Buffer.from(`${PING}\n`)]),
    ],
  ])('survives %s', (_, input) => {
    expect(textsOf(input)).toEqual([PING]);
  });

  test('loses colours inside it', () => {
    const coloured = PING.replace('"method"', '\u001b[34;1m"method"\u001b[0m');
    expect(textsOf(`${coloured}\n`)).toEqual([PING]);
  });

  test('has invalid UTF-8 replaced', () => {
    const bytes = Buffer.from(PING.replace('ping', 'p?ng'));
    bytes[bytes.indexOf('?')] = 0xff;
    expect(textsOf(Buffer.concat([bytes, Buffer.from('\n')]))).toEqual([
      PING.replace('ping', 'p\ufffdng'),
    ]);
  });

  test.each(['', ' ', ' and ', ','])('may share the line with a second one after %j', (between) => {
    expect(textsOf(`${PING}${between}${NOTE}\n`)).toEqual([PING, NOTE]);
  });

  test('may share the line with a second one, even without "jsonrpc"', () => {
    expect(textsOf('{"id":1,"result":{}}{"id":2,"result":{}}\n')).toHaveLength(2);
  });

  test('that is only quoted in a log line is not delivered', () => {
    const { messages, noise } = frameAll(`INFO {"id":1,"method":"x"}\nSENT {"body":${PING}}\n`);
    expect({ messages, noise }).toEqual({
      messages: [],
      noise: ['INFO {"id":1,"method":"x"}', `SENT {"body":${PING}}`],
    });
  });
});

describe('a message over several lines', () => {
  test.each([
    ['indented', PRETTY],
    ['indented by nothing', PRETTY.replace(/^ +/gm, '')],
    ['with blank lines', PRETTY.replaceAll('\n', '\n\n')],
  ])('is read %s', (_, text) => {
    expect(textsOf(`${text}\n${PING}\n`)).toEqual([text, PING]);
  });

  test.each([
    ['text before it', `Server ready ${PRETTY}\n${PING}\n`],
    ['text after it', `${PRETTY} done\n${PING}\n`],
    ['the next message behind its end', `${PRETTY}${PING}\n`],
    ['colours', `${PRETTY.replace(/^.*$/gm, '\u001b[1m$&\u001b[0m')}\n${PING}\n`],
  ])('is read with %s', (_, input) => {
    expect(textsOf(input)).toEqual([PRETTY, PING]);
  });

  test('is read with CRLF', () => {
    const { messages } = frameAll(`${PRETTY}\n${PING}\n`.replaceAll('\n', '\r\n'));
    expect(messages.map(({ value }) => value)).toEqual([JSON.parse(PRETTY), JSON.parse(PING)]);
  });

  test('may be a batch', () => {
    const batch = JSON.stringify([JSON.parse(PING), JSON.parse(NOTE)], null, 2);
    expect(textsOf(`${batch}\n${PING}\n`)).toEqual([batch, PING]);
  });

  test('is not a message without JSON-RPC members', () => {
    expect(frameAll('{\n  "level": "info"\n}\n').broken).toEqual([
      { reason: 'not-an-object', framing: 'newline', excerpt: '{\n  "level": "info"\n}' },
    ]);
  });

  test.each([
    '{"half":',
    '{',
    '[',
    '{"half": [1,',
    '{"half": "cut in a string',
    '{"half":\n{"half":\n{"half":',
    PRETTY.slice(0, PRETTY.indexOf('"text"')),
    PRETTY.slice(0, PRETTY.indexOf('"params"')),
    'function () {',
    "{'python': True,",
  ])('that never ends, as %j, does not swallow later ones', (half) => {
    const zeroIndent = PRETTY.replace(/^ +/gm, '');
    for (const next of [PING, PRETTY, zeroIndent, `\ufeff${PING}`, `[info] ${PING}`]) {
      const messages = textsOf(`${half}\n${next}\n${PONG}\n${withLength(PING)}`);
      expect(messages).toHaveLength(3);
      expect(messages.slice(1)).toEqual([PONG, PING]);
    }
  });

  test('that breaks inside a string is broken, and the line with the break is read again', () => {
    const { messages, broken } = frameAll(`{"a":\n${PING} "open\n`);
    expect(messages.map(({ text }) => text)).toEqual([PING]);
    expect(broken.map(({ excerpt }) => excerpt)).toEqual(['{"a":']);
  });

  test('may contain an array of objects that start in the first column', () => {
    const text = '{\n"jsonrpc": "2.0",\n"id": 1,\n"result": [\n{\n"a": 1\n},\n{\n"id": 2\n}\n]\n}';
    expect(textsOf(`${text}\n{"half":\n${text}\n`)).toEqual([text, text]);
  });
});

describe('a message after a header', () => {
  test('is as many bytes as the header says, not characters', () => {
    expect(frameAll(withLength(NOTE)).messages).toEqual([
      { text: NOTE, value: JSON.parse(NOTE), framing: 'content-length' },
    ]);
  });

  test.each(['any', 'content-length'] as const)(
    'may be followed directly by one of either framing (%s)',
    (headers) => {
      const input = `${withLength(NOTE)}${withLength(PING)}${PONG}\n${withLength(PING)}\r\n${PONG}\n`;
      expect(textsOf(input, headers)).toEqual([NOTE, PING, PONG, PING, PONG]);
    },
  );

  test.each([
    ['in any case', `content-LENGTH:${PING.length}\r\n\r\n${PING}`],
    ['ended by LF alone', `Content-Length: ${PING.length}\n\n${PING}`],
    ['after Content-Type', `Content-Type: a/b\r\nContent-Length: ${PING.length}\r\n\r\n${PING}`],
    ['before another', `Content-Length: ${PING.length}\r\nX-Trace: 1\r\n\r\n${PING}`],
    ['after a log line that looks like one', `Content-Length: 9\n${withLength(PING)}`],
  ])('finds the length %s', (_, input) => {
    expect(textsOf(`${input}${PONG}\n`)).toEqual([PING, PONG]);
  });

  test('from a host may start with any header', () => {
    expect(textsOf(`X-Trace: 1\r\n${withLength(PING)}`, 'any')).toEqual([PING]);
  });

  test('from a server does not start with a log line', () => {
    const { messages, noise } = frameAll(`Warning: x\n\n${PING}\n`);
    expect(messages).toHaveLength(1);
    expect(noise).toEqual(['Warning: x']);
  });

  test.each([
    ['an empty line', 'X-Trace: 1\r\nAccept: x\r\n\r\n', 'X-Trace: 1\nAccept: x'],
    ['a line of no header', 'X-Trace: 1\r\n', 'X-Trace: 1'],
    ['a length that is none', 'Content-Length: many\r\n\r\n', 'Content-Length: many'],
  ])('without a length, ended by %s, is reported, and the next is read', (_, header, excerpt) => {
    const { messages, broken } = frameAll(`${header}${PING}\n`, { headers: 'any' });
    expect(messages.map(({ text }) => text)).toEqual([PING]);
    expect(broken).toEqual([
      { reason: 'missing-content-length', framing: 'content-length', excerpt },
    ]);
  });

  test('from a server is only a log line if another line follows instead of a body', () => {
    const { messages, noise, broken } = frameAll(`Content-Length: 5\nContent-Type: x\n${PING}\n`);
    expect(messages).toHaveLength(1);
    expect({ noise, broken }).toEqual({
      noise: ['Content-Length: 5', 'Content-Type: x'],
      broken: [],
    });
  });

  test('from a server is only a log line if the following text does not start like JSON', () => {
    const { messages, noise } = frameAll(`Content-Length: 5\r\n\r\n hello\n${PING}\n`);
    expect(messages).toHaveLength(1);
    expect(noise).toEqual(['Content-Length: 5', 'hello']);
  });

  test.each([
    ['{not json}', 'invalid-json'],
    ['not json', 'invalid-json'],
    ['', 'invalid-json'],
    ['null', 'not-an-object'],
  ])('from a host is broken if its body is %j, and the next is read', (body, reason) => {
    const { messages, broken } = frameAll(`${withLength(body)}${withLength(PING)}`, {
      headers: 'any',
    });
    expect(messages.map(({ text }) => text)).toEqual([PING]);
    expect(broken).toEqual([{ reason, framing: 'content-length', excerpt: body }]);
  });

  test('whose length was counted in characters affects only itself', () => {
    const wrong = `Content-Length: ${NOTE.length}\r\n\r\n${NOTE}`;
    expect(textsOf(`${wrong}${withLength(PING)}${withLength(PONG)}`)).toEqual([PING, PONG]);
  });
});

describe('other input', () => {
  test('is noise if it is text', () => {
    expect(frameAll('Server ready\n[info] x\n[12:30] y\n}\n\u001b[1mhi\u001b[0m\n')).toEqual({
      messages: [],
      noise: ['Server ready', '[info] x', '[12:30] y', '}', '\u001b[1mhi\u001b[0m'],
      broken: [],
      oversize: [],
    });
  });

  test('is cut to 200 characters', () => {
    expect(frameAll(`${'é'.repeat(5000)}\n`).noise).toEqual(['é'.repeat(200)]);
    expect(frameAll(`{${'x'.repeat(5000)}\n`).broken[0]?.excerpt).toHaveLength(200);
  });

  test.each(['{oops}', '[{"jsonrpc":}]', '{"jsonrpc":"2.0"'])('is broken if it is %j', (line) => {
    expect(frameAll(`${line}\n`).broken).toEqual([
      { reason: 'invalid-json', framing: 'newline', excerpt: line },
    ]);
  });

  test.each(['null', '42', '-1.5e3', 'true', '"x"', '"a{b"'])(
    'is broken, though valid JSON, if it is %s',
    (line) => {
      expect(frameAll(`${line}\n`).broken).toEqual([
        { reason: 'not-an-object', framing: 'newline', excerpt: line },
      ]);
    },
  );
});

describe('the end of the stream', () => {
  test('ends the last line', () => {
    expect(textsOf(PING)).toEqual([PING]);
    expect(textsOf(PRETTY)).toEqual([PRETTY]);
  });

  test.each([
    ['half a line', PING.slice(0, -5)],
    ['half a block', PRETTY.slice(0, -5)],
    ['half a body', withLength(PING).slice(0, -5)],
  ])('makes %s broken', (_, input) => {
    const { messages, broken } = frameAll(input);
    expect(messages).toEqual([]);
    expect(broken.map(({ reason }) => reason)).toEqual(['invalid-json']);
  });

  test('makes a header without a body noise', () => {
    expect(frameAll('Content-Length: 5\r\n\r\n').noise).toEqual(['Content-Length: 5']);
  });

  test('is the last thing read', () => {
    const { framer, framed } = startFramer();
    framer.end();
    framer.push(Buffer.from(`${PING}\n`));
    framer.end();
    expect(framed.messages).toEqual([]);
  });
});

describe('an oversized message', () => {
  const limitBytes = 10_000;
  const head = '{"jsonrpc":"2.0","id":7,"result":"';
  const huge = `${head}${'x'.repeat(34_000)}"}`;
  const hugeItems = Array.from({ length: 5000 }, (_, index) => index);
  const hugePretty = JSON.stringify({ jsonrpc: '2.0', id: 7, result: hugeItems }, null, 2);

  test.each([
    ['on a line', `${huge}\n`, 'newline', huge.length],
    ['of log text', `${'x'.repeat(35_000)}\n`, 'newline', 35_000],
    ['behind a header', withLength(huge), 'content-length', huge.length],
    ['over several lines', `${hugePretty}\n`, 'newline', hugePretty.length + 1],
    ['cut off by the end', huge.slice(0, -1), 'newline', huge.length - 1],
  ])('%s is reported at each multiple and at its end', (_, input, framing, bytes) => {
    const chunks = Array.from({ length: Math.ceil(input.length / 1000) }, (_, index) =>
      Buffer.from(input.slice(index * 1000, (index + 1) * 1000)),
    );
    const { oversize } = frameChunks(chunks, { limitBytes });
    const reports = Math.floor(bytes / limitBytes);
    expect(oversize.map(({ complete }) => complete)).toEqual([
      ...Array.from({ length: reports }, () => false),
      true,
    ]);
    expect(oversize[0]?.bytesSoFar).toBeLessThan(limitBytes + 1100);
    const start = input
      .slice(input.indexOf('\r\n\r\n') + (framing === 'newline' ? 1 : 4))
      .slice(0, 4096);
    expect(oversize.at(-1)).toMatchObject({ framing, bytesSoFar: bytes, head: start });
    expect(oversize.at(-1)?.tail?.trimEnd().endsWith(input.trimEnd().slice(-4000))).toBe(true);
  });

  test.each([
    ['on a line', `${huge}\n`],
    ['behind a header', withLength(huge)],
    ['over several lines', `${hugePretty}\n`],
    ['over several lines with a huge one', `${JSON.stringify(JSON.parse(huge), null, 2)}\n`],
    ['over several lines, never ended', `${hugePretty.slice(0, -1)}\n`],
  ])('%s affects only itself, and its id is known at once', (_, input) => {
    const { messages, oversize } = frameAll(`${PING}\n${input}${PONG}\n`, { limitBytes });
    expect(messages.map(({ text }) => text)).toEqual([PING, PONG]);
    expect(idFromOversize(oversize[0]?.head ?? '', undefined)).toEqual({ id: 7, kind: 'response' });
  });

  test('is accepted at the limit itself', () => {
    const limitBytes = PING.length;
    expect(frameAll(`${PING}\n${withLength(PING)}`, { limitBytes }).messages).toHaveLength(2);
    expect(frameAll(`${PING} \n`, { limitBytes }).messages).toHaveLength(0);
  });
});

describe('the id of an oversized message', () => {
  const tail = 'xxx';
  test.each([
    ['{"jsonrpc":"2.0","id":7,"result":{"id":8', tail, { id: 7, kind: 'response' }],
    ['{"id":"a\\"b","jsonrpc":"2.0","error":{', tail, { id: 'a"b', kind: 'response' }],
    [
      '{\n  "jsonrpc": "2.0",\n  "id": 7,\n  "method": "x",\n  "params": {',
      tail,
      { id: 7, kind: 'request' },
    ],
    ['{"jsonrpc":"2.0","method":"x","id":7,"params":{', tail, { id: 7, kind: 'request' }],
    ['{"result":{"id":1,', 'x}]},"jsonrpc":"2.0","id":7}', { id: 7, kind: 'response' }],
    ['{"result":{"id":1,', 'x}]},"id":"k","jsonrpc":"2.0"}\r', { id: 'k', kind: 'response' }],
    ['{"jsonrpc":"2.0","result":{', '}},"id":7}', { id: 7, kind: 'response' }],
    ['{"method":"x","params":{', '}},"jsonrpc":"2.0","id":7}', { id: 7, kind: 'request' }],
  ])('is found in %j … %j', (head, tail, expected) => {
    expect(idFromOversize(head, tail)).toEqual(expected);
  });

  test.each([
    ['{"result":{"jsonrpc":"2.0","id":7,', undefined],
    ['{"result":{"jsonrpc":"2.0","id":7,', '"jsonrpc":"2.0","id":7}}'],
    ['{"result":"', ',\\"jsonrpc\\":\\"2.0\\",\\"id\\":7}"}'],
    ['{"jsonrpc":"2.0","method":"x","params":{"id":7', '"id":7}}'],
    ['{"jsonrpc":"2.0","id":null,"error":{', tail],
    ['log {"jsonrpc":"2.0","id":7,"result":{', ',"id":7}'],
    ['[{"jsonrpc":"2.0","id":7,"result":{', ',"id":7}]'],
    ['xxx', ',"id":7}'],
    ['', ''],
  ])('is not taken from the payload, as in %j … %j', (head, tail) => {
    expect(idFromOversize(head, tail)).toBeUndefined();
  });
});

describe('a message beyond the limits on depth and members', () => {
  const shape = { depth: 5, members: 1_000 };
  const deep = `[[[[["${'x'.repeat(70_000)}"]]]]]`;
  const wide = JSON.stringify(Array.from({ length: 1_000 }, () => 'x'.repeat(70)));
  const answer = (result: string) => `{"jsonrpc":"2.0","id":7,"result":${result}}`;
  const pretty = (json: string) => JSON.stringify(JSON.parse(json), null, 2);

  test.each([
    ['on a line', `${answer(deep)}\n`, 'depth', 'newline'],
    ['on a line', `${answer(wide)}\n`, 'members', 'newline'],
    ['behind a header', withLength(answer(deep)), 'depth', 'content-length'],
    ['behind a header', withLength(answer(wide)), 'members', 'content-length'],
    ['over several lines', `${pretty(answer(deep))}\n`, 'depth', 'newline'],
    ['over several lines', `${pretty(answer(wide))}\n`, 'members', 'newline'],
    ['behind other text', `ready: ${answer(deep)}\n`, 'depth', 'newline'],
    ['in colours', `\u001b[32m${answer(deep)}\u001b[0m\n`, 'depth', 'newline'],
    ['in a batch', `[${answer(deep)},${PONG}]\n`, 'depth', 'newline'],
  ])('%s affects only itself', (_where, input, name, framing) => {
    const { messages, oversize, ...others } = frameAll(`${PING}\n${input}${PONG}\n`, { shape });
    expect(messages.map(({ text }) => text)).toEqual([PING, PONG]);
    expect(oversize).toMatchObject([
      { limit: { name, most: shape[name as keyof typeof shape] }, complete: true, framing },
    ]);
    expect(others.broken).toEqual([]);
  });

  test.each([deep, wide])('has a known id', (result) => {
    const first = `{"jsonrpc":"2.0","id":7,"result":${result}}`;
    const last = `{"result":${result},"id":7,"jsonrpc":"2.0"}`;
    for (const text of [first, last]) {
      const { head = '', tail } = frameAll(`${text}\n`, { shape }).oversize[0] ?? {};
      expect(idFromOversize(head, tail)).toEqual({ id: 7, kind: 'response' });
    }
    const request = `{"jsonrpc":"2.0","id":"r","method":"ping","x":${result}}`;
    const { head = '', tail } = frameAll(`${request}\n`, { shape }).oversize[0] ?? {};
    expect(idFromOversize(head, tail)).toEqual({ id: 'r', kind: 'request' });
  });
});

test('a deep message without indentation is found after half a message', () => {
  const deep = { jsonrpc: '2.0', method: 'x', params: { a: [[[[[[{ b: [[{}]] }]]]]]] } };
  const pretty = JSON.stringify(deep, null, '\n').replaceAll(/\n+/g, '\n');
  expect(frameAll(`{"half":\n${pretty}\n`).messages.map(({ value }) => value)).toEqual([deep]);
});

describe('writes a message', () => {
  test('as a line', () => {
    expect(encodeMessage(NOTE, 'newline')).toBe(`${NOTE}\n`);
  });

  test('as one line if it arrived over several', () => {
    const written = encodeMessage(PRETTY.replaceAll('\n', '\r\n'), 'newline');
    expect(written.indexOf('\n')).toBe(written.length - 1);
    expect(JSON.parse(written)).toEqual(JSON.parse(PRETTY));
  });

  test('after a header that counts bytes', () => {
    expect(encodeMessage('{"a":"é🎉"}', 'content-length')).toBe(
      'Content-Length: 14\r\n\r\n{"a":"é🎉"}',
    );
  });
});

/**
 * How much longer eight times the input takes: about 8, or 64 if quadratic. Other work on the machine
 * can only make one measurement worse, so the best of several counts.
 */
function growthOver8(inputOf: (scale: number) => string, chunkBytes: number): number {
  const chunksOf = (scale: number): Buffer[] => {
    const input = Buffer.from(inputOf(scale));
    return Array.from({ length: Math.ceil(input.length / chunkBytes) }, (_, index) =>
      input.subarray(index * chunkBytes, (index + 1) * chunkBytes),
    );
  };
  const timeOf = (chunks: Buffer[]): number => {
    const begin = performance.now();
    frameChunks(chunks);
    return performance.now() - begin;
  };
  const [small, large] = [chunksOf(1), chunksOf(8)];
  const ratios = Array.from({ length: 6 }, () => timeOf(large) / timeOf(small));
  return Math.min(...ratios);
}

function largeMessage(bytes: number): string {
  return `{"jsonrpc":"2.0","id":1,"result":"${'x'.repeat(bytes)}"}`;
}

describe.runIf(IS_THOROUGH)('takes linear time', () => {
  test.each([
    ['a line', (scale: number) => `${largeMessage(1_250_000 * scale)}\n`, 65_536],
    ['a body', (scale: number) => withLength(largeMessage(1_250_000 * scale)), 65_536],
    ['a line byte by byte', (scale: number) => `${largeMessage(25_000 * scale)}\n`, 1],
  ])('for %s', (_, inputOf, chunkBytes) => {
    expect(frameChunks([Buffer.from(inputOf(1))]).messages).toHaveLength(1);
    expect(growthOver8(inputOf, chunkBytes)).toBeLessThan(32);
  });

  test.each([
    ['log lines', `${'INFO something happened '.padEnd(126, '.')}\n`],
    ['log lines in brackets', `${'[info] something {happened} '.padEnd(126, '.')}\n`],
    ['unfinished objects', '{"half":{"jsonrpc":[\n'],
    ['unfinished objects on one line', '{"half":{"jsonrpc":['],
    ['lines that look like headers', 'Content-Length: 5\n'],
    ['escape characters', '{"\u001b['],
  ])('for %s, without a message', (_, unit) => {
    const inputOf = (scale: number) => unit.repeat(Math.ceil((600_000 * scale) / unit.length));
    expect(frameChunks([Buffer.from(inputOf(1))]).messages).toEqual([]);
    expect(growthOver8(inputOf, 65_536)).toBeLessThan(32);
  });
});
