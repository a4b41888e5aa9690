import { expect, test } from 'vitest';
import { isWritten, ownLevel, parseFilter } from '../../../src/base/log-level.ts';

test.each([
  ['trace', 'debug'],
  ['DEBUG', 'debug'],
  [' info ', 'info'],
  ['warn', 'warn'],
  ['error', 'error'],
  ['off', 'off'],
  ['switchboard=debug,hyper=warn', 'debug'],
  ['info,switchboard_mcp=debug', 'debug'],
  ['switchboard_mcp::server=warn', 'warn'],
  ['debug,switchboard=error', 'error'],
  ['switchboard=error,debug', 'error'],
  ['warn,hyper=trace', 'warn'],
  ['debug,warn', 'warn'],
  ['switchboard', 'debug'],
  ['hyper=debug', 'info'],
  ['switchboard=loud', 'info'],
  ['warn,switchboard=loud', 'warn'],
  ['switchboards=debug', 'info'],
  ['constructor', 'info'],
  ['=,,=', 'info'],
  ['loud', 'info'],
])('the filter %j means %s', (filter, level) => {
  expect(parseFilter(filter)).toBe(level);
});

test.each([
  [{}, undefined],
  [{ SWITCHBOARD_LOG: 'Error' }, 'error'],
  [{ SWITCHBOARD_LOG: 'loud' }, undefined],
  [{ SWITCHBOARD_LOG: 'loud', SWITCHBOARD_DEBUG: '1' }, 'debug'],
  [{ SWITCHBOARD_LOG: 'warn', SWITCHBOARD_DEBUG: '1' }, 'warn'],
  [{ SWITCHBOARD_DEBUG: '0' }, undefined],
])('our own variables %j mean %s', (env, level) => {
  expect(ownLevel(env)).toBe(level);
});

test('a line is written from its level up, and none with off', () => {
  expect(isWritten('warn', 'warn')).toBe(true);
  expect(isWritten('info', 'warn')).toBe(false);
  expect(isWritten('error', 'off')).toBe(false);
});
