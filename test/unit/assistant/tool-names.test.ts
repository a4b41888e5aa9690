import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { nameTools, toProviderName } from '../../../src/assistant/tool-names.ts';

test('a name that providers accept stays unchanged', () => {
  expect(toProviderName('read_graph-2')).toBe('read_graph-2');
  expect(toProviderName('x'.repeat(64))).toBe('x'.repeat(64));
});

test('any other name is replaced with an accepted one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), (own) => {
      expect(toProviderName(own)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    }),
  );
});

test('colliding names are kept apart, and found again', () => {
  const tools = ['page.open', 'page/open', 'page_open', 'x'.repeat(65), 'x'.repeat(66)];
  const named = nameTools(tools.map((name) => ({ name })));
  expect([...named.values()].map(({ name }) => name)).toEqual(tools);
  expect(named.get('page_open')?.name).toBe('page_open');
});
