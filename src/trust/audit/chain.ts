// How the audit log proves that nothing was changed. Every line ends with an HMAC of itself and the line before it, so
// an edited, removed or moved line breaks the chain. The head file has the last line's HMAC, so a missing end shows.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { isObject, parseIfJson } from '../../base/object.ts';

const MAC = /^(\{.*),"mac":"([0-9a-f]{64})"\}$/s;

/** `fields` as a line without its line feed. `previous` is the HMAC of the line before, or empty. */
export function sealLine(
  key: string,
  previous: string,
  fields: object,
): { readonly line: string; readonly mac: string } {
  const body = JSON.stringify(fields);
  const mac = macOf(key, `${previous}\n${body}`);
  return { line: `${body.slice(0, -1)},"mac":"${mac}"}`, mac };
}

export interface SealedLine {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly mac: string;
  /** Whether the HMAC is right if the line before it had this one. */
  readonly follows: (key: string, previous: string) => boolean;
}

/** Undefined if it isn't a line of an audit log. */
export function parseLine(line: string): SealedLine | undefined {
  const [, start, mac] = MAC.exec(line) ?? [];
  if (start === undefined || mac === undefined) return undefined;
  const body = `${start}}`;
  const fields = parseObject(body);
  if (!fields) return undefined;
  return {
    fields,
    mac,
    follows: (key, previous) => isSame(mac, macOf(key, `${previous}\n${body}`)),
  };
}

/** The end of a log file. */
export interface LogHead {
  readonly file: string;
  /** Lines in the file. */
  readonly lines: number;
  /** The number and the HMAC of the last line, or of the line before the file. */
  readonly seq: number;
  readonly mac: string;
}

/** Always the same length, so that it can be overwritten in place. */
const HEAD_LENGTH = 400;

export function formatLogHead(key: string, head: LogHead): string {
  const text = JSON.stringify({ ...head, seal: sealOf(key, head) });
  return `${text.padEnd(HEAD_LENGTH - 1)}\n`;
}

/** Undefined if it isn't one; `isGenuine` says whether it was written with the key. */
export function parseLogHead(
  key: string,
  text: string,
): (LogHead & { readonly isGenuine: boolean }) | undefined {
  const { file, lines, seq, mac, seal } = parseObject(text) ?? {};
  if (typeof file !== 'string' || typeof lines !== 'number') return undefined;
  if (typeof seq !== 'number' || typeof mac !== 'string' || typeof seal !== 'string') {
    return undefined;
  }
  const head = { file, lines, seq, mac };
  return { ...head, isGenuine: isSame(seal, sealOf(key, head)) };
}

/** Tells which key a file was written with. */
export function keyId(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8);
}

function sealOf(key: string, { file, lines, seq, mac }: LogHead): string {
  return macOf(key, `head\n${file}\n${lines}\n${seq}\n${mac}`);
}

function macOf(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parseIfJson(text);
  return isObject(value) ? value : undefined;
}
