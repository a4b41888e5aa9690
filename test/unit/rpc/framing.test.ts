import { expect, test } from 'vitest';
import { toAscii } from '../../../src/rpc/framing.ts';

test('the JSON value stays the same in ASCII', () => {
  const value = { é: ['…', '🚀', '\u2028', 'plain "text"\n'], lone: '\ud800' };
  const json = toAscii(JSON.stringify(value));
  expect(json).toMatch(/^[ -~]+$/);
  expect(JSON.parse(json)).toEqual(value);
});
