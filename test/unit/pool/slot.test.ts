import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { SwitchboardError } from '../../../src/base/errors.ts';
import type { ChildConfig } from '../../../src/config/config.ts';
import { Catalog } from '../../../src/pool/catalog.ts';
import { Flow } from '../../../src/pool/flow.ts';
import { Slot, type Wish } from '../../../src/pool/slot.ts';
import { METHOD_NOT_FOUND, RpcError } from '../../../src/rpc/message.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { toolDemandOf } from '../../../src/surface/modes/table.ts';
import { childConfig } from '../../support/child-config.ts';
import { asStart, FakeChild, onBug, temporaryFolder, turn } from '../../support/fake-child.ts';
import type { SessionAttempt } from '../../support/start-child.ts';

afterEach(() => vi.useRealTimers());

function createSlot(
  some: Partial<ChildConfig> = {},
  start: (attempt: SessionAttempt, count: number) => Promise<FakeChild> = async () =>
    new FakeChild(),
  catalog = new Catalog(temporaryFolder(), () => {}),
) {
  const news: string[] = [];
  const attempts: SessionAttempt[] = [];
  const slot = new Slot(childConfig({ name: 'kid', ...some }), {
    start: asStart((_config, attempt) => {
      attempts.push(attempt);
      return start(attempt, attempts.length);
    }, catalog),
    catalog,
    events: {
      onListChanged: (_name, kind) => news.push(`other ${kind}`),
      onResourceUpdated: (_name, params) => news.push(`updated ${params.text}`),
      onLost: () => news.push('lost'),
    },
    flow: new Flow(() => {}),
    toolDemand: toolDemandOf,
    onBug,
  });
  onTestFinished(() => slot.close(new Error('The test is over.')));
  const use = async () => (await slot.use(new Cancellation())) as unknown as FakeChild;
  return { slot, news, attempts, use };
}

test('an unused server is idle, or warming if eager', () => {
  expect(createSlot().slot.state).toBe('idle');
  expect(createSlot({ start: 'eager' }).slot.state).toBe('warming');
});

test('it is warming until its tools are listed, then ready', async () => {
  const { slot, news } = createSlot();
  const warmed = slot.warm();
  expect(slot.state).toBe('warming');
  await warmed;
  expect(slot.state).toBe('ready');
  expect(slot.lists.tools).toEqual([{ name: 'echo' }]);
  expect(slot.report).toMatchObject({ pid: 4711, calls: 0, lastError: undefined });
  expect(news).toEqual(['other tools']);
});

test('concurrent warm-ups share one start and one list', async () => {
  const child = new FakeChild();
  const { slot, attempts } = createSlot({}, async () => child);
  await Promise.all([slot.warm(), slot.warm(), slot.warm()]);
  expect(attempts).toHaveLength(1);
  expect(child.lists).toBe(1);
});

test('a failed start is an error until one succeeds; the last list is still known', async () => {
  const { slot } = createSlot({}, async (_attempt, count) => {
    if (count === 1) throw new Error('no luck');
    return new FakeChild();
  });
  await expect(slot.warm()).rejects.toThrow('no luck');
  expect(slot.state).toBe('error');
  expect(slot.error?.message).toBe('no luck');
  await slot.warm();
  expect(slot.state).toBe('ready');
  expect(slot.error).toBeUndefined();
  expect(slot.report.lastError).toBe('no luck');
});

test('a failed list is an error even if the server runs, and the next list clears it', async () => {
  const child = new FakeChild();
  const list = vi.spyOn(child, 'listTools').mockRejectedValueOnce(new Error('no list'));
  const { slot, attempts } = createSlot({}, async () => child);
  await expect(slot.warm()).rejects.toThrow('no list');
  expect(slot.state).toBe('error');
  await slot.warm();
  expect(slot.state).toBe('ready');
  expect(list).toHaveBeenCalledTimes(2);
  expect(attempts).toHaveLength(1);
});

test('a server that does not know tools has none', async () => {
  const child = new FakeChild();
  vi.spyOn(child, 'listTools').mockRejectedValue(new RpcError(METHOD_NOT_FOUND, 'unknown'));
  const { slot } = createSlot({}, async () => child);
  await slot.warm();
  expect(slot.lists.tools).toEqual([]);
  expect(slot.state).toBe('ready');
});

test('only changed tools are reported', () => {
  const { slot, news } = createSlot();
  slot.remember('tools', [{ name: 'a' }]);
  slot.remember('tools', [{ name: 'a' }]);
  expect(news).toEqual(['other tools']);
  slot.remember('tools', [{ name: 'a' }, { name: 'b' }]);
  expect(news).toHaveLength(2);
});

test('an exit makes it lost and an error; a new use restarts it', async () => {
  const { slot, news, use } = createSlot();
  const first = await use();
  first.calls = 3;
  first.crash();
  await turn();
  expect(news).toEqual(['lost']);
  expect(slot.state).toBe('error');
  expect(slot.error?.message).toBe('It has ended.');
  const second = await use();
  second.calls = 2;
  expect(second).not.toBe(first);
  expect(slot.state).toBe('ready');
  expect(slot.report.calls).toBe(5);
});

test('a server stopped when idle is neither lost nor an error', async () => {
  vi.useFakeTimers();
  const { slot, news, use, attempts } = createSlot({ idleMs: 500 });
  const child = await use();
  child.idleMs = 499;
  await vi.advanceTimersByTimeAsync(600);
  expect(child.stopped).toBe(true);
  expect(slot.state).toBe('idle');
  expect(news).toEqual([]);
  await use();
  expect(attempts).toHaveLength(2);
});

test('a server in use is not stopped, however long that takes', async () => {
  vi.useFakeTimers();
  const { use } = createSlot({ idleMs: 500 });
  const child = await use();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(child.stopped).toBe(false);
  child.idleMs = 10_000;
  await vi.advanceTimersByTimeAsync(500);
  expect(child.stopped).toBe(true);
});

test('a server with watched resources keeps running', async () => {
  vi.useFakeTimers();
  const { slot, use } = createSlot({ idleMs: 500 });
  const child = await use();
  await slot.watch(new Set(['a:1']));
  child.idleMs = 10_000;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(child.stopped).toBe(false);
  await slot.watch(new Set());
  await vi.advanceTimersByTimeAsync(500);
  expect(child.stopped).toBe(true);
});

test('a new configuration may keep it running, or stop it sooner', async () => {
  vi.useFakeTimers();
  const { slot, use } = createSlot({ idleMs: 500 });
  const child = await use();
  child.idleMs = 10_000;
  slot.config = childConfig({ name: 'kid', idleMs: 0 });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(child.stopped).toBe(false);
  slot.config = childConfig({ name: 'kid', idleMs: 100 });
  await vi.advanceTimersByTimeAsync(100);
  expect(child.stopped).toBe(true);
});

test('a configuration that changes during a start applies to the started server', async () => {
  const child = new FakeChild();
  const { slot, use } = createSlot({}, async () => {
    slot.config = childConfig({ name: 'kid', origin: 'the new file' });
    return child;
  });
  await use();
  expect(child.config?.origin).toBe('the new file');
});

test('a flood of changes causes one list', async () => {
  vi.useFakeTimers();
  const child = new FakeChild();
  const { slot, attempts, news } = createSlot({}, async () => child);
  await slot.warm();
  child.tools = [{ name: 'new' }];
  for (let time = 0; time < 1_000; time++)
    attempts[0]?.onNotification('notifications/tools/list_changed', undefined);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(child.lists).toBe(2);
  expect(slot.lists.tools).toEqual([{ name: 'new' }]);
  expect(news).toEqual(['other tools', 'other tools']);
});

test('a change during a list is fetched after it', async () => {
  vi.useFakeTimers();
  const child = new FakeChild();
  const { slot, attempts } = createSlot({}, async () => child);
  await slot.warm();
  let answer = (_tools: { name: string }[]): void => {};
  const list = vi.spyOn(child, 'listTools').mockImplementationOnce(
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  );
  attempts[0]?.onNotification('notifications/tools/list_changed', undefined);
  await vi.advanceTimersByTimeAsync(100);
  attempts[0]?.onNotification('notifications/tools/list_changed', undefined);
  await vi.advanceTimersByTimeAsync(500);
  expect(list).toHaveBeenCalledTimes(1);
  child.tools = [{ name: 'newest' }];
  answer([{ name: 'old' }]);
  await vi.advanceTimersByTimeAsync(200);
  expect(slot.lists.tools).toEqual([{ name: 'newest' }]);
});

test('listed tools are fetched again by each process', async () => {
  vi.useFakeTimers();
  const child = new FakeChild('now');
  const { slot, use } = createSlot({ show: 'flip' }, async () => child);
  slot.remember('tools', [{ name: 'before' }]);
  await use();
  await vi.advanceTimersByTimeAsync(200);
  expect(slot.lists.tools).toEqual([{ name: 'now' }]);
});

test('closing cancels a start, which is not an error', async () => {
  const { slot, news } = createSlot(
    {},
    ({ cancellation }) =>
      new Promise((_resolve, reject) => {
        cancellation.listen(() => reject(cancellation.reason));
      }),
  );
  const warmed = slot.warm();
  await turn();
  const reason = new SwitchboardError('CANCELLED', 'not needed any more');
  await slot.close(reason);
  await expect(warmed).rejects.toBe(reason);
  expect(slot.error).toBeUndefined();
  expect(news).toEqual([]);
});

test('a retiring server answers first', async () => {
  const { slot, news, use } = createSlot();
  const child = await use();
  let finish = (): void => {};
  child.busy = new Promise((resolve) => {
    finish = resolve;
  });
  const retired = slot.retire(new Error('replaced'));
  await turn();
  expect(child.stopped).toBe(false);
  finish();
  await retired;
  expect(child.stopped).toBe(true);
  expect(news).toEqual([]);
});

test('its era is probed once, and used for each later start', async () => {
  const { attempts, use } = createSlot();
  const first = await use();
  first.crash();
  await turn();
  await use();
  expect(attempts.map(({ era }) => era)).toEqual([undefined, 'handshake']);
});

test('a server that exits because of the probe is restarted without it', async () => {
  const { slot, attempts, use } = createSlot({}, async ({ era }) => {
    if (era === undefined) throw diedOfProbe();
    return new FakeChild();
  });
  await use();
  expect(attempts.map(({ era }) => era)).toEqual([undefined, 'handshake']);
  expect(slot.state).toBe('ready');
  expect(slot.report.lastError).toBeUndefined();
});

test('a server that always exits is started twice the first time, then once', async () => {
  const { attempts, use } = createSlot({}, async () => {
    throw diedOfProbe();
  });
  await expect(use()).rejects.toThrow('It ended.');
  expect(attempts).toHaveLength(2);
  await expect(use()).rejects.toThrow('It ended.');
  expect(attempts).toHaveLength(3);
});

test('the first caller decides the era of a server with both', async () => {
  const { slot, attempts } = createSlot();
  await slot.use(new Cancellation(), 'modern');
  await slot.use(new Cancellation(), 'handshake');
  expect(attempts.map(({ preferredEra }) => preferredEra)).toEqual(['modern']);
});

test('prompts and resources are fetched with the tools, if declared', async () => {
  const child = new FakeChild();
  child.others = {
    prompts: [{ name: 'p' }],
    resources: [{ uri: 'a:1' }],
    templates: [{ uriTemplate: 'a:{id}' }],
  };
  child.greeting = { ...child.greeting, capabilities: { resources: {} } };
  const { slot, news } = createSlot({}, async () => child);
  await slot.warm();
  expect(slot.lists).toEqual({
    tools: [{ name: 'echo' }],
    resources: [{ uri: 'a:1' }],
    templates: [{ uriTemplate: 'a:{id}' }],
  });
  expect(news.at(-1)).toBe('other tools');
});

test('only announced lists are fetched again', async () => {
  vi.useFakeTimers();
  const child = new FakeChild();
  const { slot, attempts, news } = createSlot({ idleMs: 0 }, async () => child);
  await slot.warm();
  news.splice(0);
  const list = vi.spyOn(child, 'list');
  child.others = { prompts: [{ name: 'p' }], resources: [{ uri: 'a:1' }] };
  const notify = (method: string, params?: object) =>
    attempts[0]?.onNotification(`notifications/${method}`, params && Verbatim.of(params));
  notify('prompts/list_changed');
  notify('others/list_changed');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(news).toEqual(['other prompts']);
  notify('resources/list_changed');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(news.slice(1).toSorted()).toEqual(['other resources', 'other templates']);
  expect(list.mock.calls.map(([kind]) => kind)).toEqual(['prompts', 'resources', 'templates']);
  expect(child.lists).toBe(1);
  notify('resources/updated', { uri: 'a:1' });
  expect(news.at(-1)).toBe('updated {"uri":"a:1"}');
});

test('watched resources and the log level apply to later processes', async () => {
  const { slot, use } = createSlot();
  await slot.watch(new Set(['a:1']));
  slot.setLogLevel('warning');
  const first = await use();
  expect([first.watched, first.logLevels]).toEqual([[['a:1']], ['warning']]);
  await slot.watch(new Set(['a:2']));
  slot.setLogLevel('debug');
  slot.notify('notifications/roots/list_changed');
  expect([first.watched, first.logLevels]).toEqual([
    [['a:1'], ['a:2']],
    ['warning', 'debug'],
  ]);
  expect(first.notified).toEqual(['notifications/roots/list_changed']);
  first.crash();
  await turn();
  const second = await use();
  expect([second.watched, second.logLevels]).toEqual([[['a:2']], ['debug']]);
});

test('a list with a secret is not written to disk', async () => {
  const child = new FakeChild('tell-s3cr3t');
  child.secret = 's3cr3t';
  const folder = temporaryFolder();
  const catalog = new Catalog(folder, () => {});
  const { slot } = createSlot({}, async () => child, catalog);
  await slot.warm();
  await catalog.written();
  expect(slot.lists.tools).toEqual([{ name: 'tell-s3cr3t' }]);
  for (const file of readdirSync(folder)) {
    expect(readFileSync(join(folder, file), 'utf8')).not.toContain('s3cr3t');
  }
});

function diedOfProbe(): SwitchboardError {
  return new SwitchboardError('CHILD_EXITED', 'It ended.', { data: { diedOfProbe: true } });
}

/** A server whose list comes when the test says so, at the end of which the slot is closed. */
async function closeWhileListing(show: ChildConfig['show']) {
  const child = new FakeChild();
  let list = () => {};
  child.listTools = () =>
    new Promise((resolve) => {
      list = () => resolve(child.tools);
    });
  const { slot } = createSlot({ show }, async () => child);
  slot.warm().catch(() => {});
  await turn();
  const closed = slot.close(new Error('The host has gone.'));
  await turn();
  return { slot, child, closed, list };
}

test("closing waits for a direct server's first listing", async () => {
  const { slot, child, closed, list } = await closeWhileListing('direct');
  expect(child.stopped).toBe(false);
  list();
  await closed;
  expect(child.stopped).toBe(true);
  expect(slot.lists.tools).toEqual([{ name: 'echo' }]);
});

test('closing does not wait for the first listing of a suite', async () => {
  const { child, closed } = await closeWhileListing('suite');
  expect(child.stopped).toBe(true);
  await closed;
});

test('closing waits for a listing for at most stopMs', async () => {
  vi.useFakeTimers();
  const child = new FakeChild();
  child.listTools = () => new Promise(() => {});
  const { slot } = createSlot({ show: 'direct' }, async () => child);
  slot.warm().catch(() => {});
  await vi.advanceTimersByTimeAsync(1);
  const closed = slot.close(new Error('The host has gone.'));
  await vi.advanceTimersByTimeAsync(2_000);
  await closed;
  expect(child.stopped).toBe(true);
});

/** A slot whose process other sessions share. */
function createSharedSlot(some: Partial<ChildConfig> = {}) {
  const wishes: Wish[] = [];
  const children: FakeChild[] = [];
  const moved: string[] = [];
  const slot = new Slot(childConfig({ name: 'kid', ...some }), {
    start: async (_config, wish) => {
      wishes.push(wish);
      const child = new FakeChild();
      children.push(child);
      return child as never;
    },
    catalog: new Catalog(temporaryFolder(), () => {}),
    events: {
      onListChanged: () => {},
      onResourceUpdated: () => {},
      onLost: () => moved.push('lost'),
      onMoved: (_name, { message }) => moved.push(message),
    },
    flow: new Flow(() => {}),
    onBug,
  });
  onTestFinished(() => slot.close(new Error('The test is over.')));
  return { slot, wishes, children, moved };
}

test('a session that has to move lets its calls finish, and then uses another process', async () => {
  const { slot, wishes, children, moved } = createSharedSlot();
  const first = (await slot.use(new Cancellation())) as unknown as FakeChild;
  let finish = (): void => {};
  first.busy = new Promise((resolve) => {
    finish = resolve;
  });
  wishes[0]?.onMoved?.({ why: 'memory', message: 'It is too large.' });
  wishes[0]?.onMoved?.({ why: 'memory', message: 'It is too large.' });
  expect(moved).toEqual(['It is too large.']);
  expect(slot.state).toBe('idle');
  const next = slot.use(new Cancellation());
  await turn();
  expect([first.stopped, children.length]).toEqual([false, 1]);
  finish();
  expect(await next).toBe(children[1]);
  expect(first.stopped).toBe(true);
  expect(moved).toEqual(['It is too large.']); // nothing is lost
});

test('a session that watches resources moves at once', async () => {
  const { slot, wishes, children } = createSharedSlot();
  await slot.use(new Cancellation());
  await slot.watch(new Set(['a:1']));
  wishes[0]?.onMoved?.({ why: 'roots', message: 'Other roots.' });
  await turn();
  expect(children[1]?.watched).toEqual([['a:1']]);
});

test('a session notices its calls while another one holds up the server', async () => {
  const { slot, wishes, children } = createSharedSlot();
  await slot.use(new Cancellation());
  const [child] = children;
  if (!child) throw new Error('Nothing was started.');
  expect(child.onCallsChanged).toBeUndefined();
  child.isHeld = true;
  wishes[0]?.onHeld?.();
  child.isPaused = true;
  child.onCallsChanged?.();
  expect(child.isPaused).toBe(false); // none of our hosts is behind
  child.isHeld = false;
  wishes[0]?.onHeld?.();
  expect(child.onCallsChanged).toBeUndefined();
});
