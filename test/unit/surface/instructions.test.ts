import { expect, test } from 'vitest';
import type { ChildConfig } from '../../../src/config/config.ts';
import { instructionsFor } from '../../../src/surface/instructions.ts';
import { childConfig } from '../../support/child-config.ts';

const NO_AGENTS = { patterns: [] as string[], suite: undefined };

/** What a host is told that lists these children as suites. */
function instruct(
  children: ChildConfig[],
  { agents = NO_AGENTS, modes = [] as string[], hides = [] as string[] } = {},
): string {
  const suiteOf = ({ name }: ChildConfig) => (hides.includes(name) ? undefined : `${name}_suite`);
  return instructionsFor({ children, agents, suiteOf, modes });
}

test('each server has a line that says how this host uses it', () => {
  const children = [
    childConfig({ name: 'memory', description: 'what the user said before' }),
    childConfig({ name: 'mail', show: 'direct' }),
    childConfig({ name: 'new', show: 'direct' }),
    childConfig({ name: 'browser', show: 'flip' }),
  ];
  const text = instruct(children, { hides: ['mail', 'browser'], modes: ['Use gateway_activate.'] });
  expect(text).toContain('"introspect"');
  expect(text).toContain('gateway_activate');
  expect(text.split('\nServers:\n')[1]).toBe(
    [
      '- memory (memory_suite): what the user said before',
      '- mail (its own tools)',
      '- new (new_suite)',
      '- browser (activate it first)',
    ].join('\n'),
  );
});

test('instructions leave out what the host does not support', () => {
  const children = [childConfig({ name: 'a', show: 'flip' })];
  expect(instruct(children)).not.toContain('gateway');
  const switching = instruct(children, { hides: ['a'], modes: ['Use gateway_activate.'] });
  expect(switching).not.toContain('suite');
  expect(switching).not.toContain('introspect');
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

test('a name with parentheses is kept when only names fit', () => {
  const children = Array.from({ length: 30 }, (_, index) =>
    childConfig({ name: `server (${index})`, description: 'words '.repeat(100) }),
  );
  expect(instruct(children)).toContain('server (0), server (1)');
});

test('without servers there are no instructions', () => {
  expect(instruct([])).toBe('');
});

test('agents are named by their patterns', () => {
  const say = (...patterns: string[]) => instruct([], { agents: { patterns, suite: undefined } });
  expect(say('agent_*', 'c-*')).toMatch(/^The agent_\*, c-\* tools are agents\. Call them with/);
  expect(say('a', 'b', 'c', 'd')).toMatch(
    /^The a, b, c and other tools are agents\. Call them with/,
  );
});

test('instructions are ASCII', () => {
  const description = 'words '.repeat(100);
  const children = (['suite', 'flip', 'direct'] as const).map((show) =>
    childConfig({ name: show, show, description }),
  );
  const agents = { patterns: ['agent_*'], suite: undefined };
  const text = instruct(children, { agents, modes: ['Use gateway_activate.'] });
  expect(text).toContain('...');
  expect(text).toMatch(/^[\n -~]+$/);
});
