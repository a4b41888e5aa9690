import { expect, test } from 'vitest';
import { isWanted, LOG_LEVELS, mostVerbose, parseLogLevel } from '../../../src/mcp/logging.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';

test('a level includes itself and all more important ones', () => {
  for (const [index, wanted] of LOG_LEVELS.entries()) {
    const heard = LOG_LEVELS.filter((level) => isWanted(Verbatim.of({ level }), wanted));
    expect(heard).toEqual(LOG_LEVELS.slice(index));
  }
});

test('without a level there are no messages', () => {
  expect(isWanted(Verbatim.of({ level: 'emergency' }), undefined)).toBe(false);
});

test.each([{ level: 'loud' }, { level: 3 }, {}, null, 'info'])(
  'a message with an unknown level, %j, is dropped',
  (params) => {
    expect(isWanted(Verbatim.of(params), 'debug')).toBe(false);
  },
);

test('there are eight levels', () => {
  expect(parseLogLevel('notice')).toBe('notice');
  for (const value of ['Notice', 'length', 0, null, undefined]) {
    expect(parseLogLevel(value)).toBeUndefined();
  }
});

test('servers get the most verbose level anyone wants', () => {
  expect(mostVerbose(['error', undefined, 'info', 'warning'])).toBe('info');
  expect(mostVerbose([undefined])).toBeUndefined();
  expect(mostVerbose([])).toBeUndefined();
});
