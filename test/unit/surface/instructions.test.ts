import { expect, test } from 'vitest';
import type { ChildConfig } from '../../../src/config/config.ts';
import { instructionsFor } from '../../../src/surface/instructions.ts';
import { childConfig } from '../../support/child-config.ts';

const NO_AGENTS = { patterns: [] as string[], suite: undefined };

const instruct = (children: ChildConfig[], isStatic = false, agents = NO_AGENTS) =>
  instructionsFor({
    children,
    agents,
    isStatic,
    toolFor: (name) => `${name}_suite`,
  });

test('each server has a line, with what it is called by', () => {
  const text = instruct([
    childConfig({ name: 'memory', description: 'what the user said before' }),
    childConfig({ name: 'mail', show: 'direct' }),
    childConfig({ name: 'browser', show: 'flip' }),
  ]);
  expect(text).toContain('"introspect"');
  expect(text).toContain('gateway_activate');
  expect(text.split('\nServers:\n')[1]).toBe(
    '- memory (memory_suite): what the user said before\n- mail (its own tools)\n- browser (browser_suite)',
  );
});

test('where nothing can be switched nothing is said about it', () => {
  expect(instruct([childConfig({ name: 'a', show: 'flip' })], true)).not.toContain('gateway');
});

test.each([1, 20, 50, 500])(
  'with %i servers it stays short, and says what is left out',
  (count) => {
    const children = Array.from({ length: count }, (_, index) =>
      childConfig({ name: `server-${index}`, description: 'words '.repeat(100) }),
    );
    const text = instruct(children);
    expect(text.length).toBeLessThanOrEqual(2_000);
    const named = children.filter(({ name }) => new RegExp(`${name}\\b`).test(text)).length;
    const [, left = '0'] = /, and (\d+) more$/.exec(text) ?? [];
    expect(named + Number(left)).toBe(count);
  },
);

test('without servers there is nothing to say', () => {
  expect(instruct([])).toBe('');
});

test('agents are named by what their names look like', () => {
  const say = (...patterns: string[]) => instruct([], false, { patterns, suite: undefined });
  expect(say('agent_*', 'c-*')).toMatch(/^Call agent_\*, c-\* tools, which are agents, with/);
  expect(say('a', 'b', 'c', 'd')).toMatch(/^Call a, b, c and other tools, which are agents, with/);
});

test('our own words are ASCII, since some hosts count characters instead of bytes', () => {
  const description = 'words '.repeat(100);
  const children = (['suite', 'flip', 'direct'] as const).map((show) =>
    childConfig({ name: show, show, description }),
  );
  const text = instruct(children, false, { patterns: ['agent_*'], suite: undefined });
  expect(text).toContain('...');
  expect(text).toMatch(/^[\n -~]+$/);
});
