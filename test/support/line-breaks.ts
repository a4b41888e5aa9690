// Line breaks of every kind, JSON that contains them, and readers that disagree about where a line ends.
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { expect } from 'vitest';

/** The ones valid JSON can contain: CR and LF between tokens, the others inside strings. */
export const LINE_BREAKS = {
  CR: '\r',
  LF: '\n',
  'CR LF': '\r\n',
  NEL: '\u0085',
  'LINE SEPARATOR': '\u2028',
  'PARAGRAPH SEPARATOR': '\u2029',
} as const;

/** The ones only `str.splitlines` knows. Valid JSON never contains them. */
export const CONTROL_BREAKS = ['\v', '\f', '\u001c', '\u001d', '\u001e'];

// oxlint-disable-next-line no-control-regex -- finding them is the point
export const ANY_LINE_BREAK = /\r\n|[\n-\r\u001c-\u001e\u0085\u2028\u2029]/;

const HIDDEN = '{"jsonrpc":"2.0","id":1,"method":"hidden"}';

/** An object with line breaks, around a message if possible. */
export function withHidden(lineBreak: string): string {
  const x = isBlank(lineBreak) ? `${lineBreak}${HIDDEN}${lineBreak}` : `"one${lineBreak}two"`;
  return `{"kind":${JSON.stringify(lineBreak)},"x":${x},"big":12345678901234567890,"one":1.0}`;
}

/** Whether it's allowed between tokens. */
export function isBlank(lineBreak: string): boolean {
  return /[\r\n]/.test(lineBreak);
}

interface LineReader {
  readonly name: string;
  readonly read: (bytes: Buffer) => string[] | Promise<string[]>;
}

const splitAt =
  (lineEnd: RegExp) =>
  (bytes: Buffer): string[] =>
    bytes.toString().split(lineEnd);

const READERS: readonly LineReader[] = [
  { name: 'exact newlines', read: splitAt(/\n/) },
  { name: "Python's text streams", read: splitAt(/\r\n|\r|\n/) },
  { name: "Python's splitlines", read: splitAt(ANY_LINE_BREAK) },
  { name: "Node's readline", read: readWithReadline },
];

async function readWithReadline(bytes: Buffer): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: Readable.from([bytes]) })) lines.push(line);
  return lines;
}

/** The lines in the bytes. Every reader must agree. */
export async function linesOf(bytes: Buffer): Promise<string[]> {
  const expected = bytes.toString().split('\n').filter(Boolean);
  for (const { name, read } of READERS) {
    const lines = (await read(bytes)).filter(Boolean);
    expect(lines, `lines as ${name} has them`).toEqual(expected);
  }
  return expected;
}

/** The messages in the bytes, one per line for every reader. */
export async function messagesOf(bytes: Buffer): Promise<Record<string, unknown>[]> {
  return (await linesOf(bytes)).map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Checks that every reader sees the message as one line. */
export async function expectOneLine(json: string): Promise<void> {
  expect(await messagesOf(Buffer.from(`${json}\n`))).toHaveLength(1);
}
