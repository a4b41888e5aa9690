import { expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import type { Call } from '../../../src/calls/call.ts';
import { holdChanges } from '../../../src/calls/hold-changes.ts';
import type { ToolChanges } from '../../../src/config/config.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { childConfig } from '../../support/child-config.ts';
import { byName, callsFor, createFakePool, FakeChild } from '../../support/fake-child.ts';

function setUp(toolChanges: ToolChanges, child = new FakeChild()) {
  const server = childConfig({ name: 'box', toolChanges });
  const { pool } = createFakePool([server], async () => child);
  const calls = callsFor([server], pool);
  const send = (method: string, target: string) => {
    const context = { cancellation: new Cancellation() };
    const call: Call = {
      server,
      method,
      target,
      params: Verbatim.of({}),
      context,
      through: 'suite',
    };
    return calls.send(call);
  };
  return { child, send, pool, server };
}

test('with hold, the tools are listed before the first call, and once', async () => {
  const { child, send } = setUp('hold');
  await send('tools/call', 'echo');
  await send('tools/call', 'echo');
  expect(child.lists).toBe(1);
  expect(child.called).toEqual(['echo', 'echo']);
});

test('with scan, a call lists nothing, and there is no interceptor', async () => {
  const { child, send, pool, server } = setUp('scan');
  await send('tools/call', 'echo');
  expect(child.lists).toBe(0);
  expect(holdChanges({ children: byName([server]) }, { pool })).toBeUndefined();
});

test.each(['hold', 'scan'] as const)('with %s, a held tool is not called', async (toolChanges) => {
  const { child, send, pool } = setUp(toolChanges);
  await pool.warm('box');
  child.refusedTools = [{ name: 'echo', where: 'changed' }];
  await expect(send('tools/call', 'echo')).rejects.toMatchObject({
    code: 'TOOL_HELD',
    hint: 'Ask the user to review it in a terminal with: switchboard changes box',
  });
  expect(child.called).toEqual([]);
});

test('a tool that was accepted in the meantime is called', async () => {
  class Accepting extends FakeChild {
    override async listTools() {
      this.refusedTools = [];
      return super.listTools();
    }
  }
  const { child, send, pool } = setUp('scan', new Accepting());
  await pool.use('box', new Cancellation());
  child.refusedTools = [{ name: 'echo', where: 'scan' }];
  await send('tools/call', 'echo');
  expect(child.called).toEqual(['echo']);
});

test.each(['prompts/get', 'completion/complete'])(
  'a held prompt is not used: %s',
  async (method) => {
    const { child, send } = setUp('hold');
    child.heldPrompts = ['letter'];
    await expect(send(method, 'letter')).rejects.toMatchObject({ code: 'TOOL_HELD' });
    await send(method, 'other');
    expect(child.asked).toHaveLength(1);
  },
);

test('permissions see the accepted rights of a tool that claims more', async () => {
  const child = new FakeChild();
  child.tools = [
    { name: 'send', annotations: { readOnlyHint: true } },
    { name: 'read', annotations: { readOnlyHint: true } },
  ];
  const counts = { held: 0, rights: 1, passed: 0 };
  child.verdict = { ...child.verdict, rights: new Map([['send', {}]]), counts };
  const { pool } = setUp('scan', child);
  await pool.warm('box');
  expect(pool.heldRights('box', 'send')).toEqual({});
  expect(pool.heldRights('box', 'read')).toBeUndefined();
  expect(pool.hints('box')).toEqual(
    new Map([
      ['send', {}],
      ['read', { readOnlyHint: true }],
    ]),
  );
  expect(pool.changes('box')).toEqual(counts);
});
