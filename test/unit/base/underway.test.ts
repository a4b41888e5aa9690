import { expect, test } from 'vitest';
import { Underway } from '../../../src/base/underway.ts';

test('keeps the starting order, whatever is removed', () => {
  const underway = new Underway<string>();
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((item) => underway.add(item));
  if (!a || !b || !c || !d) throw new Error('Four were added.');
  expect(underway.all()).toEqual(['a', 'b', 'c', 'd']);

  underway.remove(b);
  expect(underway.all()).toEqual(['a', 'c', 'd']);
  underway.remove(d);
  underway.remove(a);
  expect(underway.all()).toEqual(['c']);
  underway.add('e');
  underway.remove(c);
  expect(underway.all()).toEqual(['e']);
});

test('can be emptied and refilled', () => {
  const underway = new Underway<number>();
  underway.remove(underway.add(1));
  expect(underway.all()).toEqual([]);

  underway.add(2);
  expect(underway.all()).toEqual([2]);
});

test('the same item may be in it twice', () => {
  const underway = new Underway<string>();
  const first = underway.add('call');
  underway.add('call');
  underway.remove(first);

  expect(underway.all()).toEqual(['call']);
});
