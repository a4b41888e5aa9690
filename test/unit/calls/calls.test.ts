import { describe, expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { SwitchboardError } from '../../../src/base/errors.ts';
import { type Call, compose, type Interceptor } from '../../../src/calls/call.ts';
import { Calls } from '../../../src/calls/calls.ts';
import { exposeRules } from '../../../src/calls/expose.ts';
import { logCalls } from '../../../src/calls/log-calls.ts';
import { type CallRecord, recordCalls, SessionNumbers } from '../../../src/calls/record.ts';
import { createSend } from '../../../src/calls/send.ts';
import { INTERNAL_ERROR, RpcError } from '../../../src/rpc/message.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { Board } from '../../../src/surface/board.ts';
import { noAgents } from '../../support/agent-settings.ts';
import { childConfig } from '../../support/child-config.ts';
import { boardConfig, callView, openView } from '../../support/fake-board.ts';
import { FakeCaller } from '../../support/fake-caller.ts';
import { byName, createFakePool, FakeChild } from '../../support/fake-child.ts';
import { SILENT_LOG } from '../../support/silent-log.ts';

const box = childConfig({ name: 'box' });

const callTo = (target: string, some: Partial<Call['context']> = {}): Call => ({
  server: box,
  method: 'tools/call',
  target,
  params: Verbatim.of({ text: 'ä' }),
  context: { cancellation: new Cancellation(), ...some },
  through: 'suite',
});

/** A way to one server that keeps the records of its calls. */
function openWay(child: FakeChild, ...interceptors: Interceptor[]) {
  let starts = 0;
  const { pool } = createFakePool([box], async () => {
    starts++;
    return child;
  });
  const records: CallRecord[] = [];
  const send = recordCalls(
    compose(interceptors, createSend(pool)),
    new SessionNumbers(),
    (record) => void records.push(record),
  );
  return { send, records, pool, starts: () => starts };
}

describe('interceptors', () => {
  test('without any, the path is the bare function', () => {
    const send = createSend(createFakePool([box], async () => new FakeChild()).pool);
    expect(compose([], send)).toBe(send);
  });

  test('the first one sees a call first and its result last', async () => {
    const seen: string[] = [];
    const note =
      (name: string): Interceptor =>
      async (call, next) => {
        seen.push(`${name} ${call.target}`);
        const result = await next(call);
        seen.push(`${name} is back`);
        return result;
      };
    const { send } = openWay(new FakeChild('echo'), note('outer'), note('inner'));
    await send(callTo('echo'));
    expect(seen).toEqual(['outer echo', 'inner echo', 'inner is back', 'outer is back']);
  });

  test('one that denies a call keeps it from the server', async () => {
    const deny: Interceptor = async () => {
      throw new SwitchboardError('TOOL_NOT_ALLOWED', 'Not today.');
    };
    const { send, records, starts } = openWay(new FakeChild('echo'), deny);
    await expect(send(callTo('echo'))).rejects.toThrow('Not today.');
    expect(starts()).toBe(0);
    expect(records).toMatchObject([{ outcome: 'denied', bytesOut: 0 }]);
  });

  test('one can rewrite the call and its result', async () => {
    const child = new FakeChild('echo', 'other');
    const rewrite: Interceptor = async (call, next) => {
      const result = await next({ ...call, target: 'other' });
      return result.set('_meta', Verbatim.of({ seen: true }));
    };
    const { send } = openWay(child, rewrite);
    const { value } = await send(callTo('echo'));
    expect(child.called).toEqual(['other']);
    expect(value).toEqual({
      content: [{ type: 'text', text: 'called other' }],
      _meta: { seen: true },
    });
  });
});

describe('records', () => {
  const answers = (answer: () => Promise<Verbatim>): FakeChild => {
    const child = new FakeChild('echo');
    child.callTool = answer;
    return child;
  };
  const fails = (error: Error): FakeChild =>
    answers(async () => {
      throw error;
    });

  test.each<[CallRecord['outcome'], FakeChild]>([
    ['ok', new FakeChild('echo')],
    ['tool_error', answers(async () => Verbatim.of({ content: [], isError: true }))],
    ['error', fails(new RpcError(INTERNAL_ERROR, 'It broke.'))],
    ['error', fails(new SwitchboardError('CHILD_EXITED', 'It crashed.'))],
    ['timeout', fails(new SwitchboardError('CHILD_TIMEOUT', 'RPC timeout'))],
    ['cancelled', fails(new SwitchboardError('CANCELLED', 'Shutting down.'))],
  ])('a call can end as %s', async (outcome, child) => {
    const { send, records } = openWay(child);
    await send(callTo('echo')).catch(() => {});
    expect(records).toMatchObject([{ server: 'box', target: 'echo', outcome }]);
  });

  test('a call that would do more than its suite claims is denied', async () => {
    const child = new FakeChild('echo');
    const { send, records } = openWay(child);
    const readOnly = { suite: 'box_suite_read', hint: 'Call it through box_suite.' };
    await expect(send({ ...callTo('echo'), readOnly })).rejects.toThrow('not marked as read-only');
    expect(child.called).toEqual([]);
    expect(records).toMatchObject([{ target: 'echo', outcome: 'denied' }]);
  });

  test('a call the host cancels is cancelled, whatever it fails with', async () => {
    const cancellation = new Cancellation();
    const { send, records } = openWay(
      answers(async () => {
        cancellation.cancel(new Error('The host cancelled it.'));
        throw new RpcError(INTERNAL_ERROR, 'Too late.');
      }),
    );
    await expect(send(callTo('echo', { cancellation }))).rejects.toThrow('Too late.');
    expect(records).toMatchObject([{ outcome: 'cancelled' }]);
  });

  test('a record has the caller, the target, the time and the bytes', async () => {
    const { send, records } = openWay(new FakeChild('echo'));
    const [one, other] = [new FakeCaller(), new FakeCaller({ info: undefined })];
    const before = Date.now();
    await send(callTo('echo', { caller: one }));
    await send(callTo('echo', { caller: other }));
    await send(callTo('echo', { caller: one }));
    await send(callTo('echo'));
    expect(records[0]).toEqual({
      session: 1,
      host: 'some host',
      server: 'box',
      method: 'tools/call',
      target: 'echo',
      startedAt: expect.any(Number),
      endedAt: expect.any(Number),
      params: expect.any(Verbatim),
      bytesIn: Buffer.byteLength('{"text":"ä"}'),
      bytesOut: '{"content":[{"type":"text","text":"called echo"}]}'.length,
      outcome: 'ok',
    });
    for (const { startedAt, endedAt } of records) {
      expect(startedAt).toBeGreaterThanOrEqual(before - 1_000);
      expect(endedAt).toBeGreaterThanOrEqual(startedAt);
    }
    expect(records.map(({ session, host }) => [session, host])).toEqual([
      [1, 'some host'],
      [2, undefined],
      [1, 'some host'],
      [undefined, undefined],
    ]);
  });
});

describe('the configured interceptors', () => {
  const strict = childConfig({ name: 'box', expose: { allow: undefined, deny: ['rm*'] } });
  const logging = { form: 'compact', folder: undefined } as const;

  test('tools that are not exposed cannot be called, before and after a reload', async () => {
    let starts = 0;
    const { pool } = createFakePool([strict], async () => {
      starts++;
      return new FakeChild('rm_all', 'ls');
    });
    const settings = (server: typeof box) => ({
      children: byName([server]),
      logging: { ...logging, level: 'info' as const },
    });
    const calls = new Calls(settings(strict), { pool, log: SILENT_LOG });
    const remove = { ...callTo('rm_all'), server: strict };
    await expect(calls.send(remove)).rejects.toMatchObject({ code: 'TOOL_NOT_ALLOWED' });
    expect(starts).toBe(0);
    await calls.send({ ...remove, target: 'ls' });
    calls.update(settings(box));
    await calls.send({ ...remove, server: box });
    calls.update(settings(strict));
    await expect(calls.send(remove)).rejects.toMatchObject({ code: 'TOOL_NOT_ALLOWED' });
  });

  test('unneeded interceptors are left out', () => {
    const within = { allow: undefined, deny: undefined };
    const nested = childConfig({
      name: 'nested',
      expose: { ...within, within: { ...within, deny: ['x'] } },
    });
    const { pool } = createFakePool([box, nested], async () => new FakeChild());
    expect(exposeRules({ children: byName([box]) }, { pool })).toBeUndefined();
    expect(exposeRules({ children: byName([box, nested]) }, { pool })).toBeDefined();
    expect(logCalls({ logging: { ...logging, level: 'info' } }, SILENT_LOG)).toBeUndefined();
    expect(logCalls({ logging: { ...logging, level: 'debug' } }, SILENT_LOG)).toBeDefined();
  });

  test('with none of them, send is the bare function: nothing is added to a call', () => {
    const { pool } = createFakePool([box], async () => new FakeChild());
    const settings = { children: byName([box]), logging: { ...logging, level: 'info' } } as const;
    const bare = createSend(pool);
    const calls = new Calls(settings, { pool, log: SILENT_LOG });
    // The same source, and not a function around it.
    expect(calls.send.toString()).toBe(bare.toString());
    const hooks = { beforeCall: [], afterCall: [] };
    const folder = '/nowhere';
    const audit = { folder, required: false, maxFileBytes: 4_096, keepDays: 1 };
    for (const some of [{ hooks }, { audit }]) {
      const busy = new Calls({ ...settings, ...some }, { pool, log: SILENT_LOG });
      expect(busy.send.toString()).not.toBe(bare.toString());
    }
  });

  test('every request to a server leaves a line in the debug log', async () => {
    const own = childConfig({ name: 'own', show: 'direct' });
    const child = new FakeChild('echo');
    child.hasTasks = true;
    const servers = [box, own];
    const { pool, catalog } = createFakePool(servers, async () => child);
    catalog.rememberList(own, 'tools', [{ name: 'echo' }]);
    catalog.rememberList(own, 'prompts', [{ name: 'p' }]);
    catalog.rememberList(own, 'resources', [{ uri: 'a:1?token=secret' }]);
    const lines: string[] = [];
    const log = { ...SILENT_LOG, debug: (line: string) => void lines.push(line) };
    const config = boardConfig(servers);
    const debug = { ...config, logging: { ...config.logging, level: 'debug' as const } };
    const { view } = openView(new Board(debug, pool, log, noAgents));
    const caller = new FakeCaller({ sign: (text) => Buffer.from(text).toString('base64url') });
    const context = { cancellation: new Cancellation(), caller };

    await callView(view, 'box_suite', { action: 'introspect' });
    await callView(view, 'box_suite', { action: 'call', subtool: 'echo' });
    await callView(view, 'echo');
    await view.ask('prompts/get', Verbatim.of({ name: 'p' }), context);
    const uri = 'a:1?token=secret';
    await view.ask('resources/read', Verbatim.of({ uri }), context);
    const ref = { type: 'ref/resource', uri };
    await view.ask('completion/complete', Verbatim.of({ ref }), context);
    child.callTool = async () => Verbatim.of({ task: { taskId: 't1' } });
    const task = { ...context, task: Verbatim.of({}) };
    const { value } = await view.callTool('echo', Verbatim.of({}), task);
    const { taskId } = (value as { task: { taskId: string } }).task;
    await view.ask('tasks/get', Verbatim.of({ taskId }), context);

    const shape = lines.map((line) => line.replaceAll(/\d+ (?=ms|bytes|out)/g, 'N '));
    expect(shape).toEqual([
      'box: tools/list: ok in N ms (N bytes in, N out).',
      'box: echo: ok in N ms (N bytes in, N out).',
      'own: echo: ok in N ms (N bytes in, N out).',
      'own: prompts/get: ok in N ms (N bytes in, N out).',
      'own: resources/read: ok in N ms (N bytes in, N out).',
      'own: completion/complete: ok in N ms (N bytes in, N out).',
      'own: echo: ok in N ms (N bytes in, N out).',
      'own: tasks/get: ok in N ms (N bytes in, N out).',
    ]);
  });

  test('a listener that throws does not fail the call', async () => {
    const bugs: string[] = [];
    const log = {
      ...SILENT_LOG,
      debug: () => {
        throw new Error('The disk is full.');
      },
      error: (line: string) => void bugs.push(line),
    };
    const { pool } = createFakePool([box], async () => new FakeChild('echo'));
    const settings = { children: byName([box]), logging: { ...logging, level: 'debug' as const } };
    const calls = new Calls(settings, { pool, log });
    await calls.send(callTo('echo'));
    expect(bugs).toEqual([expect.stringContaining('The disk is full.')]);
  });
});
