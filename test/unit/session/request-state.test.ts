import { afterEach, expect, test, vi } from 'vitest';
import { digestOf, type RequestState, StateSeal } from '../../../src/session/request-state.ts';

afterEach(() => void vi.useRealTimers());

const PARAMS = { name: 'mail', arguments: { to: 'a' } };
const DIGEST = digestOf('tools/call', PARAMS);
const REFUSAL = { code: -32602, message: expect.stringContaining('requestState') as string };

const refusalOf = (seal: StateSeal, text: unknown, digest = DIGEST): unknown => {
  try {
    return seal.open(text, digest);
  } catch (error) {
    return error;
  }
};

test.each<RequestState>([
  { kind: 'parked', handle: 'h' },
  { kind: 'relay', state: 'of the server "é"' },
  { kind: 'relay', state: '' },
  { kind: 'relay', state: undefined },
])('%j comes back unchanged', (state) => {
  const seal = new StateSeal();
  expect(seal.open(seal.seal(state, DIGEST), DIGEST)).toEqual(state);
});

test('a changed text is refused', () => {
  const seal = new StateSeal();
  const text = seal.seal({ kind: 'parked', handle: 'h' }, DIGEST);
  for (let at = 0; at < text.length; at++) {
    const other = text[at] === 'A' ? 'B' : 'A';
    const changed = text.slice(0, at) + other + text.slice(at + 1);
    expect(refusalOf(seal, changed)).toMatchObject(REFUSAL);
  }
});

test.each([
  ['something behind it', (text: string) => `${text}.x`],
  ['a dot behind it', (text: string) => `${text}.`],
  ['padding', (text: string) => `${text}=`],
  ['a line break', (text: string) => `${text}\n`],
  ['a blank before it', (text: string) => ` ${text}`],
  ['no signature', (text: string) => text.split('.')[0]],
  ['an empty signature', (text: string) => `${text.split('.')[0]}.`],
  ['nothing signed', (text: string) => `.${text.split('.')[1]}`],
  ['nothing at all', () => ''],
])('a text with %s is refused', (_what, change) => {
  const seal = new StateSeal();
  const text = seal.seal({ kind: 'relay', state: 's' }, DIGEST);
  expect(refusalOf(seal, change(text))).toMatchObject(REFUSAL);
});

test.each([undefined, null, 7, {}, ['a.b']])('%j is not a string, and is refused', (value) => {
  expect(refusalOf(new StateSeal(), value)).toMatchObject(REFUSAL);
});

test('a forged text with another seal’s signature is refused', () => {
  const text = new StateSeal().seal({ kind: 'parked', handle: 'h' }, DIGEST);
  expect(refusalOf(new StateSeal(), text)).toMatchObject(REFUSAL);
});

test.each([
  ['another method', 'prompts/get', PARAMS],
  ['another tool', 'tools/call', { ...PARAMS, name: 'post' }],
  ['other arguments', 'tools/call', { ...PARAMS, arguments: { to: 'b' } }],
  ['no arguments', 'tools/call', { name: 'mail' }],
  ['a resource', 'tools/call', { ...PARAMS, uri: 'a:b' }],
  ['no parameters', 'tools/call', undefined],
])('it is invalid for %s', (_what, method, params) => {
  const seal = new StateSeal();
  const text = seal.seal({ kind: 'relay', state: 's' }, DIGEST);
  expect(refusalOf(seal, text, digestOf(method, params))).toMatchObject(REFUSAL);
});

test('a request’s digest ignores its other members', () => {
  const repeated = { ...PARAMS, _meta: { a: 1 }, inputResponses: {}, requestState: 'x' };
  expect(digestOf('tools/call', repeated)).toBe(DIGEST);
});

test('it is valid for an hour', () => {
  vi.useFakeTimers();
  const seal = new StateSeal();
  const text = seal.seal({ kind: 'relay', state: 's' }, DIGEST);
  vi.advanceTimersByTime(60 * 60_000);
  expect(seal.open(text, DIGEST)).toEqual({ kind: 'relay', state: 's' });
  vi.advanceTimersByTime(1);
  expect(refusalOf(seal, text)).toMatchObject(REFUSAL);
});
