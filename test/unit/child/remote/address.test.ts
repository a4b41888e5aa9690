import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../../../src/child/remote/address.ts';
import type { Remote } from '../../../../src/config/config.ts';
import { childConfig } from '../../../support/child-config.ts';

const parse = (url: string, headers: Record<string, string> = {}, type: Remote['type'] = 'http') =>
  parseAddress(childConfig({ name: 'far' }), { type, url, headers });

describe('secrets that everybody on the way can read', () => {
  test.each([
    ['http://example.org/mcp', { Authorization: 'x' }, true],
    ['http://10.0.0.8/mcp', { 'X-Api-Key': 'x' }, true],
    ['ws://example.org/mcp', { Cookie: 'x' }, true],
    ['http://user:password@example.org/mcp', {}, true],
    ['http://example.org/mcp?api_key=x', {}, true],
    ['http://example.org/mcp', { 'X-Region': 'eu' }, false],
    ['http://example.org/mcp', {}, false],
    ['https://example.org/mcp', { Authorization: 'x' }, false],
    ['http://localhost:3000/mcp', { Authorization: 'x' }, false],
    ['http://127.1.2.3/mcp', { Authorization: 'x' }, false],
    ['http://0x7f.1/mcp', { Authorization: 'x' }, false],
    ['http://[::1]/mcp', { Authorization: 'x' }, false],
    ['http://127.0.0.1.example.org/mcp', { Authorization: 'x' }, true],
  ])('%s %j: %s', (url, headers, isExposed) => {
    expect(parse(url, headers).isExposed).toBe(isExposed);
  });
});

test('what is secret of an address: headers, tokens behind a scheme, passwords, queries', () => {
  const { url, secrets } = parse('https://user:p%C3%A4ssword@host/x?key=from-the-query', {
    Authorization: 'Bearer the-token',
  });
  expect(url.href).toBe('https://host/x?key=from-the-query');
  expect(secrets).toEqual(['Bearer the-token', 'the-token', 'pässword', 'from-the-query']);
});

test('the scheme of the address decides where it and the type disagree', () => {
  expect(parse('wss://host/x', {}, 'http').kind).toBe('ws');
  expect(parse('https://host/x', {}, 'sse').kind).toBe('sse');
});
