import { availableParallelism } from 'node:os';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { warmUp } from '../../../src/pool/warm-up.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const FEW = Math.max(8, 2 * availableParallelism());
const MANY = 4 * FEW;

/** Starts that go on until the test ends them, so many that not all may be under way at once. */
function begin(countWorking: () => Promise<number | undefined>) {
  const names = Array.from({ length: 2 * MANY }, (_, index) => `kid${index}`);
  const underway = new Map<string, () => void>();
  const begun: string[] = [];
  const warmed = warmUp(names, {
    start: (name) =>
      new Promise((resolve) => {
        begun.push(name);
        underway.set(name, () => {
          underway.delete(name);
          resolve();
        });
      }),
    countWorking,
  });
  return { names, underway, begun, warmed };
}

test('busy starts run a few at a time', async () => {
  const { begun, underway } = begin(async () => FEW);
  await vi.advanceTimersByTimeAsync(1_900);
  expect(begun).toHaveLength(FEW);
  underway.get('kid3')?.();
  await vi.advanceTimersByTimeAsync(50);
  expect(begun).toHaveLength(FEW + 1);
});

test('more starts run if they only wait, up to a limit', async () => {
  const { begun } = begin(async () => 0);
  await vi.advanceTimersByTimeAsync(1_900);
  expect(begun).toHaveLength(MANY);
});

test('if some are busy, only as many run as leave room for them', async () => {
  const looks = [FEW, FEW - 2, FEW + 5];
  const { begun } = begin(async () => looks.shift() ?? FEW);
  await vi.advanceTimersByTimeAsync(1_900);
  expect(begun).toHaveLength(FEW + 2);
});

test('if load is unknown, a start gives up its turn after two seconds', async () => {
  const { begun } = begin(async () => undefined);
  await vi.advanceTimersByTimeAsync(1_900);
  expect(begun).toHaveLength(FEW);
  await vi.advanceTimersByTimeAsync(500);
  expect(begun).toHaveLength(2 * FEW);
});

test('all are started, in order, and it resolves when the last one is done', async () => {
  const { names, begun, underway, warmed } = begin(async () => 0);
  let isOver = false;
  void warmed.then(() => {
    isOver = true;
  });
  while (begun.length < names.length) {
    for (const end of underway.values()) end();
    await vi.advanceTimersByTimeAsync(200);
  }
  expect(begun).toEqual(names);
  expect(isOver).toBe(false);
  for (const end of underway.values()) end();
  await vi.advanceTimersByTimeAsync(1);
  expect(isOver).toBe(true);
});
