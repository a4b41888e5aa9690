// What every mode promises, whatever it lists. A new mode is tested by being in the table.
import { describe, expect, test } from 'vitest';
import type { SwitchboardError } from '../../src/base/errors.ts';
import { type ChildConfig, isOff, SHOWS } from '../../src/config/config.ts';
import type { ShowMode } from '../../src/surface/modes/mode.ts';
import { MODES, toolDemandOf } from '../../src/surface/modes/table.ts';
import type { Surface } from '../../src/surface/surface.ts';
import { childConfig } from '../support/child-config.ts';
import { callView, createBoard, FakeAudience, openView, say } from '../support/fake-board.ts';
import { FakeChild, turn } from '../support/fake-child.ts';

const namesIn = (surface: Surface) => surface.listTools().map(({ name }) => name);

test('every value of "show" has a mode of that name', () => {
  expect(Object.keys(MODES).sort()).toEqual([...SHOWS].sort());
  for (const [name, mode] of Object.entries(MODES)) expect(mode.name).toBe(name);
});

describe.each(Object.values(MODES))('$name', (mode: ShowMode) => {
  const server = (some: Partial<ChildConfig> = {}) =>
    childConfig({ name: 'box', show: mode.name, description: 'boxes', ...some });

  /** A session in front of one server in this mode; its tools are known unless told otherwise. */
  function openMode(some: Partial<ChildConfig> = {}, isKnown = true) {
    const child = new FakeChild('echo', 'secret_echo');
    const config = server(some);
    let starts = 0;
    const { board, pool } = createBoard([config], async () => {
      starts++;
      return child;
    });
    if (isKnown) pool.remember(config, child.tools);
    return { board, pool, child, ...openView(board), starts: () => starts };
  }

  const isUsed = !isOff({ show: mode.name });

  /** The text of a call's result, or the code it fails with. */
  const outcomeOf = async (view: Surface, name: string, args = {}): Promise<unknown> => {
    try {
      return await say(view, name, args);
    } catch (error) {
      return (error as SwitchboardError).code;
    }
  };

  test('listing starts no server and repeats itself byte for byte', () => {
    for (const isKnown of [true, false]) {
      const { board, view, starts } = openMode({}, isKnown);
      const list = JSON.stringify(view.listTools());
      expect(JSON.stringify(view.listTools())).toBe(list);
      expect(JSON.stringify(board.open(new FakeAudience()).listTools())).toBe(list);
      expect(view.instructions).toBe(view.instructions);
      expect(starts()).toBe(0);
    }
  });

  test('no two listed tools share a name, and every one has a schema', () => {
    const { view } = openMode();
    const names = namesIn(view);
    expect(new Set(names).size).toBe(names.length);
    for (const tool of view.listTools()) {
      expect(tool['inputSchema']).toMatchObject({ type: 'object' });
    }
  });

  test('hosts can use the server, unless it is off', async () => {
    for (const isKnown of [true, false]) {
      const { view, child } = openMode({}, isKnown);
      expect(view.listTools().length > 0).toBe(isUsed);
      const outcome = await outcomeOf(view, 'box_suite', { action: 'call', subtool: 'echo' });
      expect(outcome).toBe(isUsed ? 'called echo' : 'TOOL_UNKNOWN');
      expect(child.called).toEqual(isUsed ? ['echo'] : []);
    }
  });

  test('the instructions say how this host uses the server', () => {
    const { view } = openMode();
    const how = namesIn(view).includes('box_suite') ? 'box_suite' : mode.access;
    const lines = view.instructions.split('\n').filter((line) => line.startsWith('- '));
    expect(lines).toEqual(isUsed ? [`- box (${how}): boxes`] : []);
  });

  test('every own tool that is listed can be called', async () => {
    const { view, child } = openMode();
    const own = namesIn(view).filter((name) => child.toolNames.includes(name));
    expect(own).toEqual(mode.ownTools === 'always' ? child.toolNames : []);
    for (const name of own) expect(await say(view, name)).toBe(`called ${name}`);
    expect(child.called).toEqual(own);
  });

  test('only what `expose` allows is listed or called, and a refusal starts no server', async () => {
    const { view, starts } = openMode({ expose: { allow: undefined, deny: ['secret_*'] } });
    if (mode.ownTools === 'switched') await say(view, 'gateway_activate', { name: 'box' });
    expect(namesIn(view)).not.toContain('secret_echo');
    expect(await outcomeOf(view, 'secret_echo')).toBe('TOOL_UNKNOWN');
    const outcome = await outcomeOf(view, 'box_suite', { action: 'call', subtool: 'secret_echo' });
    expect(outcome).toBe(isUsed ? 'TOOL_NOT_ALLOWED' : 'TOOL_UNKNOWN');
    expect(starts()).toBe(0);
  });

  test('a lazy server is started by itself if and only if the mode needs its tools', async () => {
    const { board, view, starts } = openMode({ start: 'lazy' }, false);
    board.begin();
    for (let time = 0; time < 5; time++) await turn();
    expect(starts()).toBe(mode.needsTools ? 1 : 0);
    expect(namesIn(view).includes('echo')).toBe(mode.needsTools && mode.ownTools === 'always');
  });

  test('the pool keeps the tool list fresh if and only if hosts depend on it', () => {
    const demand = toolDemandOf(server());
    expect(demand === 'required').toBe(mode.needsTools);
    expect(demand !== 'none').toBe(mode.needsTools || mode.ownTools !== 'never');
  });

  test('switching the server on changes the list if and only if the mode is switched', async () => {
    // A second server, so that the gateway is there in every mode.
    const child = new FakeChild('echo');
    const other = childConfig({ name: 'other', show: 'flip' });
    const { board } = createBoard([server(), other], async () => child);
    const { view, audience } = openView(board);
    const before = namesIn(view);
    const { value } = await callView(view, 'gateway_activate', { name: 'box' });
    const isSwitched = mode.ownTools === 'switched';
    expect((value as { isError?: boolean }).isError ?? false).toBe(!isSwitched);
    expect(view.active).toEqual(isSwitched ? ['box'] : []);
    expect(audience.told).toBe(isSwitched ? 1 : 0);
    expect(namesIn(view)).toEqual(isSwitched ? [...before, 'echo'] : before);
  });

  test('a crash costs the list only what the session can switch on again', async () => {
    const { board, view, child } = openMode();
    if (mode.ownTools === 'switched') await say(view, 'gateway_activate', { name: 'box' });
    await outcomeOf(view, 'box_suite', { action: 'call', subtool: 'echo' });
    const before = namesIn(view);
    child.crash();
    await turn();
    const lost = mode.ownTools === 'switched' ? child.toolNames : [];
    expect(namesIn(view)).toEqual(before.filter((name) => !lost.includes(name)));
    expect(board.isActive('box')).toBe(false);
  });

  test('a session whose list must not change can use the server at once', async () => {
    const { board } = openMode();
    const audience = Object.assign(new FakeAudience(), { isStatic: true });
    const view = board.open(audience);
    const list = JSON.stringify(view.listTools());
    const names = namesIn(view);
    expect(names.includes('box_suite') || names.includes('echo')).toBe(isUsed);
    await outcomeOf(view, 'box_suite', { action: 'call', subtool: 'echo' });
    expect(JSON.stringify(view.listTools())).toBe(list);
    expect(audience.told + audience.toldSoon).toBe(0);
  });

  test("no server's tool can take a name the mode uses itself", () => {
    const { view, child } = openMode();
    const own = view.listTools().filter(({ name }) => mode.reserves?.(name));
    const others = namesIn(view).filter((name) => name !== 'box_suite');
    const expected = others.filter((name) => !child.toolNames.includes(name));
    expect(own.map(({ name }) => name)).toEqual(expected);
  });
});
