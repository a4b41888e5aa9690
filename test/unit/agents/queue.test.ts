import { expect, test } from 'vitest';
import { Queue } from '../../../src/agents/queue.ts';
import { Cancellation } from '../../../src/base/cancellation.ts';

/** A piece of work that ends when it is told to. */
function createWork() {
  let end: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let hasBegun = false;
  return {
    end,
    get hasBegun() {
      return hasBegun;
    },
    run: async () => {
      hasBegun = true;
      await ended;
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('runs up to the limit, the others in order of arrival', async () => {
  const queue = new Queue(() => 2);
  const works = Array.from({ length: 5 }, createWork);
  const moves: number[][] = works.map(() => []);
  const runs = works.map((work, index) =>
    queue.during(new Cancellation(), work.run, (before) => moves[index]?.push(before)),
  );
  await turn();
  expect(works.map(({ hasBegun }) => hasBegun)).toEqual([true, true, false, false, false]);
  expect([queue.running, queue.waiting]).toEqual([2, 3]);
  works[1]?.end();
  await turn();
  expect(works.map(({ hasBegun }) => hasBegun)).toEqual([true, true, true, false, false]);
  expect(moves).toEqual([[], [], [0], [1, 0], [2, 1]]);
  for (const work of works) work.end();
  await Promise.all(runs);
  expect([queue.running, queue.waiting]).toEqual([0, 0]);
});

test('a cancelled entry leaves the queue and never starts', async () => {
  const queue = new Queue(() => 1);
  const [first, second, third] = [createWork(), createWork(), createWork()];
  const cancellation = new Cancellation();
  const moves: number[] = [];
  const running = queue.during(new Cancellation(), first.run);
  const called = queue.during(cancellation, second.run);
  const last = queue.during(new Cancellation(), third.run, (before) => moves.push(before));
  cancellation.cancel(new Error('enough'));
  await expect(called).rejects.toThrow('enough');
  expect(moves).toEqual([1, 0]);
  first.end();
  third.end();
  await Promise.all([running, last]);
  expect([second.hasBegun, queue.running]).toEqual([false, 0]);
});

test('failed work frees its place', async () => {
  const queue = new Queue(() => 1);
  const failing = queue.during(new Cancellation(), () => Promise.reject(new Error('broken')));
  await expect(failing).rejects.toThrow('broken');
  expect(queue.running).toBe(0);
});

test('a higher limit admits more, a lower one admits none until enough have left', async () => {
  let places = 1;
  const queue = new Queue(() => places);
  const works = Array.from({ length: 5 }, createWork);
  const runs = works.map((work) => queue.during(new Cancellation(), work.run));
  const begun = () => works.filter(({ hasBegun }) => hasBegun).length;
  await turn();
  expect(begun()).toBe(1);
  places = 3;
  queue.admit();
  await turn();
  expect(begun()).toBe(3);
  places = 1;
  works[0]?.end();
  works[1]?.end();
  await turn();
  expect([begun(), queue.running]).toEqual([3, 1]);
  for (const work of works) work.end();
  await Promise.all(runs);
});
