import { expect, test } from 'vitest';
import { depthMark, refuseTooDeep } from '../../../src/assistant/depth.ts';

const at = (depth: string) => ({ SWITCHBOARD_ASSISTANT_DEPTH: depth });

test('processes an assistant starts get its depth plus one', () => {
  expect(depthMark({}, false)).toEqual({});
  expect(depthMark({}, true)).toEqual(at('1'));
  expect(depthMark(at('1'), true)).toEqual(at('2'));
  expect(depthMark(at('1'), false)).toEqual(at('1'));
});

test('a third level is refused', () => {
  refuseTooDeep(at('1'), 'kid');
  expect(() => refuseTooDeep(at('2'), 'kid')).toThrow('it is nested 2 levels deep');
});

test.each(['', 'many', '-3', '1.5', 'Infinity'])('an invalid count is 0: %s', (text) => {
  refuseTooDeep(at(text), 'kid');
  expect(depthMark(at(text), true)).toEqual(at('1'));
});
