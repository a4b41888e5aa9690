import { expect, onTestFinished, test, vi } from 'vitest';
import { Deadline } from '../../../src/assistant/deadline.ts';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { eventually } from '../../support/processes.ts';

const late = new Error('too late');

test('cancels when time is up', async () => {
  using deadline = new Deadline(20, new Cancellation(), () => late);
  expect(deadline.cancellation.reason).toBeUndefined();
  expect(await eventually(() => deadline.cancellation.reason === late)).toBe(true);
});

test('cancels when the caller does', () => {
  const caller = new Cancellation();
  using deadline = new Deadline(60_000, caller, () => late);
  const reason = new Error('never mind');
  caller.cancel(reason);
  expect(deadline.cancellation.reason).toBe(reason);
});

test('stops while a user is thinking', async () => {
  using deadline = new Deadline(1_000, new Cancellation(), () => late);
  const thinking = new Promise((resolve) => setTimeout(() => resolve('yes'), 1_200));
  const both = Promise.all([deadline.outside(thinking), deadline.outside(thinking)]);
  expect(await both).toEqual(['yes', 'yes']);
  expect(deadline.cancellation.reason).toBeUndefined();
  expect(deadline.remainingMs).toBeGreaterThan(0);
  expect(await eventually(() => deadline.cancellation.reason === late)).toBe(true);
});

test('leaves nothing behind when done', () => {
  const caller = new Cancellation();
  const deadline = new Deadline(60_000, caller, () => late);
  deadline[Symbol.dispose]();
  caller.cancel(new Error('never mind'));
  expect(deadline.cancellation.reason).toBeUndefined();
});

test('a question that outlives its query does not restart the clock', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const deadline = new Deadline(60_000, new Cancellation(), () => late);
  const asked = deadline.outside(Promise.reject(new Error('never mind')));
  deadline[Symbol.dispose]();
  await expect(asked).rejects.toThrow('never mind');
  await vi.advanceTimersByTimeAsync(120_000);
  expect(deadline.cancellation.reason).toBeUndefined();
});
