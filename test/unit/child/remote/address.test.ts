import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../../../src/child/remote/address.ts';
import type { Remote } from '../../../../src/config/config.ts';
import { childConfig } from '../../../support/child-config.ts';

const parse = (url: string, headers: Record<string, string> = {}, type: Remote['type'] = 'http') =>
  parseAddress(childConfig({ name: 'far' }), { type, url, headers });

describe('secrets sent unencrypted', () => {
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
    ['http://[::ffff:127.0.0.1]/mcp', { Authorization: 'x' }, false],
    ['http://127.0.0.1.example.org/mcp', { Authorization: 'x' }, true],
  ])('%s %j: %s', (url, headers, isExposed) => {
    expect(parse(url, headers).isExposed).toBe(isExposed);
  });
});

test('secrets in a URL: headers, tokens after a scheme, passwords, path and query', () => {
  const { url, secrets } = parse(
    'https://user:p%C3%A4ssword@host/mcp/a-long%20segment/x?key=from%20the+query&flag',
    { Authorization: 'Bearer the-token' },
  );
  expect(url.href).toBe('https://host/mcp/a-long%20segment/x?key=from%20the+query&flag');
  expect(secrets).toEqual([
    'Bearer the-token',
    'the-token',
    'pässword',
    'p%C3%A4ssword',
    '/mcp/a-long%20segment/x?key=from%20the+query&flag',
    'a-long%20segment',
    'from%20the+query',
    'flag',
    '/mcp/a-long segment/x?key=from the+query&flag',
    'a-long segment',
    'from the+query',
    'from the query',
  ]);
});

test('values of variables are secret, except in the origin', () => {
  const remote: Remote = {
    type: 'http',
    url: 'https://${HOST_NAME}/${env:ACCOUNT}/mcp?v=${VERSION_TAG:-1}',
    headers: {},
  };
  const env = {
    HOST_NAME: 'mcp.example.org',
    ACCOUNT: 'a1b2c3d4',
    VERSION_TAG: 'x y',
    OTHER: 'no',
  };
  const filled = { ...remote, url: 'https://mcp.example.org/a1b2c3d4/mcp?v=x y' };
  const { secrets } = parseAddress(childConfig({ name: 'far', remote }), filled, env);
  expect(secrets).toContain('a1b2c3d4');
  expect(secrets).toContain('x y');
  expect(secrets).not.toContain('mcp.example.org');
  expect(secrets).not.toContain('no');
});

test('the URL’s scheme takes precedence over the type', () => {
  expect(parse('wss://host/x', {}, 'http').kind).toBe('ws');
  expect(parse('https://host/x', {}, 'sse').kind).toBe('sse');
});
