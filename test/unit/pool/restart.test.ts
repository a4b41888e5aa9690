import { expect, test } from 'vitest';
import { RestartLimit } from '../../../src/pool/restart.ts';

test('the sixth start within ten seconds waits until the first is ten seconds old', () => {
  const limit = new RestartLimit();
  for (const start of [0, 100, 200, 300, 400]) {
    expect(limit.parkedMs(start)).toBe(0);
    limit.noteStart(start);
  }

  expect(limit.parkedMs(500)).toBe(9_500);
  expect(limit.parkedMs(9_999)).toBe(1);
  expect(limit.parkedMs(10_000)).toBe(0);
});

test('the wait before a start doubles with each consecutive failure, up to two seconds', () => {
  const limit = new RestartLimit();
  const waits = Array.from({ length: 9 }, () => {
    const { waitMs } = limit;
    limit.noteEnd('failed');
    return waitMs;
  });

  expect(waits).toEqual([0, 0, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
});

test('after a process that worked, the next start does not wait', () => {
  const limit = new RestartLimit();
  for (let failure = 0; failure < 5; failure++) limit.noteEnd('failed');
  limit.noteEnd('worked');
  expect(limit.waitMs).toBe(0);
});
