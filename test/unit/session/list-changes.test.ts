import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { ListChanges } from '../../../src/session/list-changes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function createListChanges() {
  const told = { times: 0, methods: [] as string[] };
  const changes = new ListChanges({
    notify: (method) => {
      told.times++;
      told.methods.push(method);
    },
    ask: async () => Verbatim.of({}),
  });
  return { changes, told };
}

/** Announces a change; gives when the answer may go out, or that it still may not. */
function settle(changes: ListChanges, cancellation = new Cancellation()) {
  const begin = performance.now();
  const outcome: { afterMs: number | undefined } = { afterMs: undefined };
  void changes.announceAndSettle(cancellation).then(() => {
    outcome.afterMs = performance.now() - begin;
  });
  return outcome;
}

test('a host is notified at once, and the answer waits until it has fetched the list and a little longer', async () => {
  const { changes, told } = createListChanges();
  const outcome = settle(changes);
  expect(told.times).toBe(1);
  await vi.advanceTimersByTimeAsync(300);
  expect(outcome.afterMs).toBeUndefined();
  changes.noteListed();
  await vi.advanceTimersByTimeAsync(99);
  expect(outcome.afterMs).toBeUndefined();
  await vi.advanceTimersByTimeAsync(10);
  expect(outcome.afterMs).toBeGreaterThanOrEqual(400);
});

test('a host that fetches late gets no extra time', async () => {
  const { changes } = createListChanges();
  const outcome = settle(changes);
  await vi.advanceTimersByTimeAsync(980);
  changes.noteListed();
  await vi.advanceTimersByTimeAsync(40);
  expect(outcome.afterMs).toBeLessThanOrEqual(1_001);
});

test('a host that does not fetch is waited for once, and again after it has fetched', async () => {
  const { changes, told } = createListChanges();
  const first = settle(changes);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(first.afterMs).toBeGreaterThanOrEqual(1_000);
  const second = settle(changes);
  await vi.advanceTimersByTimeAsync(1);
  expect(second.afterMs).toBeLessThan(2);
  changes.noteListed();
  const third = settle(changes);
  await vi.advanceTimersByTimeAsync(500);
  expect(third.afterMs).toBeUndefined();
  expect(told.times).toBe(3);
});

test('hosts that do not refresh their tool list are known by name', async () => {
  const { changes } = createListChanges();
  expect(changes.neverRelists).toBe(false);
  changes.client = 'codex-mcp-client';
  expect(changes.neverRelists).toBe(true);
  const outcome = settle(changes);
  await vi.advanceTimersByTimeAsync(1);
  expect(outcome.afterMs).toBeLessThan(2);
  for (const other of ['claude-code', undefined]) {
    changes.client = other;
    expect(changes.neverRelists).toBe(false);
  }
});

test('a cancelled call does not wait, and does not make the host count as deaf', async () => {
  const { changes } = createListChanges();
  const cancellation = new Cancellation();
  const first = settle(changes, cancellation);
  await vi.advanceTimersByTimeAsync(10);
  cancellation.cancel(new Error('never mind'));
  await vi.advanceTimersByTimeAsync(1);
  expect(first.afterMs).toBeLessThan(20);
  const second = settle(changes);
  await vi.advanceTimersByTimeAsync(900);
  expect(second.afterMs).toBeUndefined();
});

test('several waiting calls continue with one list', async () => {
  const { changes, told } = createListChanges();
  const outcomes = [settle(changes), settle(changes), settle(changes)];
  await vi.advanceTimersByTimeAsync(50);
  changes.noteListed();
  await vi.advanceTimersByTimeAsync(200);
  for (const { afterMs } of outcomes) expect(afterMs).toBeLessThan(200);
  expect(told.times).toBe(3);
});

test('changes that are not urgent are announced together', async () => {
  const { changes, told } = createListChanges();
  for (let time = 0; time < 100; time++) changes.announceSoon();
  expect(told.times).toBe(0);
  await vi.advanceTimersByTimeAsync(60);
  expect(told.times).toBe(1);
  changes.announceSoon();
  changes.announce();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(told.times).toBe(2);
});

test('a host that is gone is neither waited for nor notified', async () => {
  const { changes, told } = createListChanges();
  const outcome = settle(changes);
  changes.announceSoon();
  changes.close();
  await vi.advanceTimersByTimeAsync(150);
  expect(outcome.afterMs).toBeLessThan(200);
  expect(told.times).toBe(1);
});

test('each kind of list has its own notification', async () => {
  const { changes, told } = createListChanges();
  changes.announceSoon('prompts');
  changes.announceSoon('resources');
  changes.announceSoon('prompts');
  changes.announceSoon();
  await vi.advanceTimersByTimeAsync(60);
  expect(told.methods.toSorted()).toEqual([
    'notifications/prompts/list_changed',
    'notifications/resources/list_changed',
    'notifications/tools/list_changed',
  ]);
});
