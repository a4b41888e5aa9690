// The names by which clients may say that they have reached us.
import { expect, test } from 'vitest';
import { isLocalAddress, isOurOrigin, isOurs, urlOf } from '../../../../src/host/http/address.ts';

const local = { host: '127.0.0.1', port: 8081, names: [] };
const network = { host: '192.168.1.5', port: 8081, names: [] };
const everywhere = { host: '0.0.0.0', port: 8081, names: ['switchboard.example', 'box'] };

test.each([
  ['localhost', true],
  ['LOCALHOST', true],
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['0.0.0.0', false],
  ['::', false],
  ['', false],
  ['127.0.0.1.evil.example', false],
  ['localhost.evil.example', false],
  ['192.168.1.5', false],
  ['::ffff:127.0.0.1', false],
])('whether %j is only this machine: %j', (host, expected) => {
  expect(isLocalAddress(host)).toBe(expected);
});

test.each([
  [local, 'localhost:8081', true],
  [local, '127.0.0.1:8081', true],
  [local, '[::1]:8081', true],
  [local, 'localhost:8082', false],
  [local, 'localhost', false],
  [local, '127.0.0.2:8081', false],
  [local, '127.0.0.1:8081.evil.example', false],
  [local, '127.0.0.1:08081', true],
  [local, 'localhost:8081, evil.example', false],
  [local, ' localhost:8081', false],
  [local, 'localhost.:8081', false],
  [local, '', false],
  [{ ...local, port: 80 }, 'localhost', true],
  [{ ...local, host: '::1' }, '[::1]:8081', true],
  [{ ...local, host: '127.0.0.2' }, '127.0.0.2:8081', true],
  [network, '192.168.1.5:8081', true],
  [network, 'localhost:8081', false],
  [network, 'evil.example:8081', false],
  [everywhere, '10.0.0.1:9000', true],
  [everywhere, '[fe80::1]:8081', true],
  [everywhere, 'localhost:9000', true],
  [everywhere, 'switchboard.example', true],
  [everywhere, 'Box:8081', true],
  [everywhere, 'evil.example:8081', false],
])('at %j the host %j: %j', (address, value, expected) => {
  expect(isOurs(value, address)).toBe(expected);
});

test.each([
  [local, 'http://localhost:8081', true],
  [local, 'https://localhost:8081', true],
  [local, 'http://localhost:3000', false],
  [local, 'http://localhost:8081/', false],
  [local, 'http://localhost:8081@evil.example', false],
  [local, 'ftp://localhost:8081', false],
  [local, 'null', false],
  [local, '', false],
  [everywhere, 'http://127.0.0.1:8081', true],
  [everywhere, 'http://10.0.0.7', false], // a neighbour's page
  [everywhere, 'http://localhost:3000', false],
  [everywhere, 'https://evil.example', false],
])('at %j the origin %j: %j', (address, value, expected) => {
  expect(isOurOrigin(value, '127.0.0.1:8081', address)).toBe(expected);
});

test('with a custom name, pages with that name are ours', () => {
  expect(isOurOrigin('https://switchboard.example', 'Switchboard.example', everywhere)).toBe(true);
  expect(isOurOrigin('https://other.example', 'switchboard.example', everywhere)).toBe(false);
});

test('the printed URL can be reached', () => {
  expect(urlOf(local, '/mcp')).toBe('http://127.0.0.1:8081/mcp');
  expect(urlOf({ ...local, host: '::1' }, '/mcp')).toBe('http://[::1]:8081/mcp');
  expect(urlOf(everywhere, '/mcp')).toBe('http://switchboard.example:8081/mcp');
  expect(urlOf({ ...everywhere, names: [] }, '/mcp')).toBe('http://127.0.0.1:8081/mcp');
  expect(urlOf({ host: '::', port: 1, names: [] }, '')).toBe('http://[::1]:1');
});
