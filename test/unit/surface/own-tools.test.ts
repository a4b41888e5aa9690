import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChildConfig } from '../../../src/config/config.ts';
import { isReservedName } from '../../../src/surface/modes/table.ts';
import { type ListedChild, OwnTools } from '../../../src/surface/own-tools.ts';
import { childConfig } from '../../support/child-config.ts';

const none = (name: string) => isReservedName(name);

function listed(name: string, tools: readonly string[], some: Partial<ChildConfig> = {}) {
  return {
    config: childConfig({ name, ...some }),
    tools: tools.map((tool) => ({
      name: tool,
      description: `${tool} of ${name}`,
      inputSchema: { type: 'object' },
    })),
  };
}

const namesOf = (own: OwnTools, children: ListedChild[], isReserved = none) => [
  ...own.arrange(children, isReserved).keys(),
];

test('tools keep their names, in an order that does not depend on the server', () => {
  const own = new OwnTools();
  expect(namesOf(own, [listed('a', ['z', 'b']), listed('c', ['a'])])).toEqual(['b', 'z', 'a']);
});

test('a definition is unchanged, except for a replaced name', () => {
  const own = new OwnTools();
  const children = [listed('a', ['find']), listed('b', ['find'])];
  const [first, second] = [...own.arrange(children, none).values()];
  expect(first?.tool).toBe(children[0]?.tools[0]);
  expect(second).toMatchObject({
    subtool: 'find',
    tool: { name: 'b_find', description: 'find of b' },
  });
});

test('names of the gateway and of suites are reserved', () => {
  const own = new OwnTools();
  const names = namesOf(
    own,
    [listed('a', ['gateway_status', 'mcpflip_activate', 'a_suite', 'gateway_other'])],
    (name) => isReservedName(name) || name === 'a_suite',
  );
  expect(names).toEqual(['a_a_suite', 'gateway_other', 'a_gateway_status', 'a_mcpflip_activate']);
});

test('names that differ only in dots and underscores are kept apart', () => {
  const own = new OwnTools();
  const names = namesOf(
    own,
    [listed('a', ['x.y', 'x_y', 'gateway.status']), listed('b', ['x.y', 'b.suite'])],
    (name) => isReservedName(name) || name === 'b_suite',
  );
  expect(names).toEqual(['a_gateway_status', 'x.y', 'a_x_y', 'b_b_suite', 'b_x_y']);
});

test('a name stays with its tool, and is free once that is gone', () => {
  const own = new OwnTools();
  const [a, b] = [listed('a', ['find']), listed('b', ['find'])];
  expect(namesOf(own, [b])).toEqual(['find']);
  expect(namesOf(own, [a, b])).toEqual(['a_find', 'find']);
  expect(namesOf(own, [a])).toEqual(['a_find']);
  expect(namesOf(own, [])).toEqual([]);
  expect(namesOf(own, [a, b])).toEqual(['find', 'b_find']);
});

test('a name that is listed twice appears once', () => {
  const own = new OwnTools();
  expect(namesOf(own, [listed('x', ['aa', 'ac', 'aa'])])).toEqual(['aa', 'ac']);
});

test.each([
  ['two\nlines', /^two_lines_[0-9a-f]{8}$/],
  ['検索', /^___[0-9a-f]{8}$/],
  ['x'.repeat(300), /^x{37}_[0-9a-f]{8}$/],
  ['with.dot', /^with\.dot$/],
  ['__proto__', /^__proto__$/],
  ['x'.repeat(46), /^x{46}$/],
])('%j is listed under a name that hosts accept', (tool, expected) => {
  const own = new OwnTools();
  const [[name, { subtool }] = ['', { subtool: '' }]] = own.arrange([listed('a', [tool])], none);
  expect(name).toMatch(expected);
  expect(subtool).toBe(tool);
});

test('thousands of similar names are kept apart without delay', () => {
  const tools = Array.from({ length: 5_000 }, (_, index) =>
    String.fromCodePoint(0x4e00 + index, 0x4e00 + ((index * 7) % 5_000)),
  );
  const begin = performance.now();
  expect(namesOf(new OwnTools(), [listed('a', tools)])).toHaveLength(5_000);
  expect(performance.now() - begin).toBeLessThan(10_000);
});

/** What may happen to the servers of a session: which are on, and what each of them lists. */
const childName = fc.constantFrom('a', 'a_b', 'gateway', 'mcpflip', 'a b', '__proto__', 'é');
const TOOL_NAMES = [
  'find find_2 a_find a.find b_find a_b.find status gateway.status a.suite b_suite'.split(' '),
  ['__proto__', 'constructor', 'x'.repeat(46), 'x'.repeat(47), 'x'.repeat(300)],
].flat();
const toolName = fc.oneof(
  fc.constantFrom(...TOOL_NAMES),
  fc.string({ minLength: 1, maxLength: 60 }),
);
const step = fc.oneof(
  fc.record({ act: fc.constant('on' as const), child: childName }),
  fc.record({ act: fc.constant('off' as const), child: childName }),
  fc.record({
    act: fc.constant('lists' as const),
    child: childName,
    tools: fc.array(toolName, { maxLength: 8 }),
  }),
);
const SUITES = new Set(['a_suite', 'a_b_suite', 'gateway_suite', 'b_suite', 'status']);

test('under any changes, names are unique, ours are reserved, and a name never moves', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const own = new OwnTools();
      const tools = new Map<string, readonly string[]>();
      const on = new Set<string>();
      let before = new Map<string, string>();
      for (const { act, child, ...more } of steps) {
        if (act === 'on') on.add(child);
        else if (act === 'off') on.delete(child);
        else tools.set(child, 'tools' in more ? more.tools : []);
        const children = [...on].toSorted().map((name) => listed(name, tools.get(name) ?? []));
        const arranged = own.arrange(children, (name) => isReservedName(name) || SUITES.has(name));

        const expected = children.reduce((sum, { tools: all }) => sum + namesIn(all).size, 0);
        expect(arranged.size).toBe(expected);
        const shown = [...arranged.keys()].map((name) => name.replaceAll('.', '_'));
        expect(new Set(shown).size).toBe(expected);
        const now = new Map<string, string>();
        for (const [name, { config, subtool, tool }] of arranged) {
          expect(tool.name).toBe(name);
          expect(isReservedName(name) || SUITES.has(name)).toBe(false);
          expect(name).toMatch(/^[A-Za-z0-9_.-]{1,46}$/);
          now.set(JSON.stringify([config.name, subtool]), name);
        }
        for (const [key, name] of now) expect(before.get(key) ?? name).toBe(name);
        before = now;
      }
    }),
    { numRuns: 500 },
  );
});

const namesIn = (tools: readonly { name: string }[]) => new Set(tools.map(({ name }) => name));

test.each([undefined, null, 'object', [], 7])(
  'a tool whose inputSchema is %j is listed with one that accepts anything',
  (inputSchema) => {
    const tools = [{ name: 'a', inputSchema }];
    const [own] = new OwnTools()
      .arrange([{ config: childConfig({ name: 'kid' }), tools }], none)
      .values();
    expect(own?.tool).toEqual({ name: 'a', inputSchema: { type: 'object' } });
  },
);

test("the tools of the user's servers get their names first, wherever they are listed", () => {
  const own = new OwnTools();
  const children = [listed('project', ['find']), listed('mine', ['find'], { isUsers: true })];
  expect(namesOf(own, children)).toEqual(['project_find', 'find']);
});
