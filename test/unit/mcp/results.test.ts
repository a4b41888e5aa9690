import { expect, test } from 'vitest';
import {
  isInputRequired,
  toCacheableResult,
  toHandshakeResult,
  toModernResult,
} from '../../../src/mcp/results.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';

const parse = (text: string) => new Verbatim(text, JSON.parse(text) as unknown);
const SERVER = 'io.modelcontextprotocol/serverInfo';

test('a modern result is marked as complete and with its server, and otherwise unchanged', () => {
  const result = toModernResult(parse('{ "n": 12345678901234567890, "_meta": { "own": 1.0 } }'));
  expect(JSON.parse(result.text)).toEqual({
    resultType: 'complete',
    n: JSON.parse('12345678901234567890'),
    _meta: { own: 1, [SERVER]: expect.objectContaining({ name: 'switchboard' }) },
  });
  expect(result.text).toContain('12345678901234567890');
  expect(result.text).toContain('"own": 1.0');
  expect(result.value).toEqual(JSON.parse(result.text));
});

test('a server’s own identity stays', () => {
  const text = `{"resultType":"task","_meta":{"${SERVER}":{"name":"own"}}}`;
  expect(toModernResult(parse(text)).text).toBe(text);
});

test('an invalid _meta is replaced', () => {
  expect(JSON.parse(toModernResult(parse('{"_meta":[1]}')).text)).toMatchObject({
    _meta: { [SERVER]: { name: 'switchboard' } },
  });
});

test('a list may be cached for as long as its server says', () => {
  expect(toCacheableResult(parse('{"tools":[]}')).value).toMatchObject({
    tools: [],
    ttlMs: 60_000,
    cacheScope: 'private',
    resultType: 'complete',
  });
  expect(toCacheableResult(parse('{"ttlMs":5,"cacheScope":"public"}')).value).toMatchObject({
    ttlMs: 5,
    cacheScope: 'public',
  });
});

test.each(['"text"', '[1]', 'null', '7', 'true'])(
  'a result of %s is not an object, but always becomes JSON',
  (text) => {
    for (const change of [toModernResult, toCacheableResult, toHandshakeResult]) {
      expect(() => JSON.parse(change(parse(text)).text) as unknown).not.toThrow();
    }
  },
);

test('a handshake result has nothing modern', () => {
  const own = '{"content":[{"n":12345678901234567890}]}';
  const modern = toCacheableResult(parse(own));
  const back = toHandshakeResult(modern);
  expect(back.text).toBe(own);
  expect(back.value).toEqual(JSON.parse(own));
});

test('a server’s other _meta reaches a handshake host', () => {
  const modern = toModernResult(parse('{"_meta":{"own":1.0}}'));
  expect(toHandshakeResult(modern).text).toBe('{"_meta":{"own":1.0}}');
});

test('a handshake-era result passes through, even if its keys look modern', () => {
  const text = '{ "ttlMs": 1, "_meta": {} }';
  expect(toHandshakeResult(parse(text)).text).toBe(text);
});

test.each([
  [{ resultType: 'input_required' }, true],
  [{ resultType: 'complete' }, false],
  [{}, false],
  [null, false],
  ['input_required', false],
])('%j needs input: %s', (result, isWanting) => {
  expect(isInputRequired(result)).toBe(isWanting);
});
