import { expect, test } from 'vitest';
import { isWanted, LOG_LEVELS, mostTalkative, parseLogLevel } from '../../../src/mcp/logging.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';

test('who wants messages from a level on gets that one and all more important ones', () => {
  for (const [index, wanted] of LOG_LEVELS.entries()) {
    const heard = LOG_LEVELS.filter((level) => isWanted(Verbatim.of({ level }), wanted));
    expect(heard).toEqual(LOG_LEVELS.slice(index));
  }
});

test('who has not said that he wants any gets none', () => {
  expect(isWanted(Verbatim.of({ level: 'emergency' }), undefined)).toBe(false);
});

test.each([{ level: 'loud' }, { level: 3 }, {}, null, 'info'])(
  'a message of no known level, %j, is nobody’s',
  (params) => {
    expect(isWanted(Verbatim.of(params), 'debug')).toBe(false);
  },
);

test('a level is one of the eight', () => {
  expect(parseLogLevel('notice')).toBe('notice');
  for (const value of ['Notice', 'length', 0, null, undefined]) {
    expect(parseLogLevel(value)).toBeUndefined();
  }
});

test('servers are told the level of the one who wants most', () => {
  expect(mostTalkative(['error', undefined, 'info', 'warning'])).toBe('info');
  expect(mostTalkative([undefined])).toBeUndefined();
  expect(mostTalkative([])).toBeUndefined();
});
