import { expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { either } from '../../../src/pool/either.ts';
import { turn } from '../../support/fake-child.ts';

/** Two ways that end when the test says so. */
function createWays() {
  const cancellation = new Cancellation();
  const ends = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  const cancelled: string[] = [];
  const discarded: string[] = [];
  let tryOther = (): void => {};
  const way = (name: string, own: Cancellation) =>
    new Promise<string>((resolve, reject) => {
      ends.set(name, { resolve: () => resolve(name), reject });
      own.listen(() => cancelled.push(name));
    });
  const outcome = either(cancellation, {
    first: (own, askForOther) => {
      tryOther = askForOther;
      return way('first', own);
    },
    other: (own) => way('other', own),
    discard: (late) => void discarded.push(late),
  });
  outcome.catch(() => {});
  return { cancellation, ends, cancelled, discarded, outcome, tryOther: () => tryOther() };
}

test('the second way is not tried unless the first asks for it', async () => {
  const { ends, outcome, cancelled } = createWays();
  ends.get('first')?.resolve();
  expect(await outcome).toBe('first');
  expect([...ends.keys(), ...cancelled]).toEqual(['first']);
});

test.each([
  ['first', 'other'],
  ['other', 'first'],
])('if the %s one succeeds, the %s one is cancelled', async (winner, loser) => {
  const { ends, outcome, cancelled, discarded, tryOther } = createWays();
  tryOther();
  ends.get(winner)?.resolve();
  expect(await outcome).toBe(winner);
  expect(cancelled).toEqual([loser]);
  ends.get(loser)?.resolve();
  await turn();
  expect(discarded).toEqual([loser]);
});

test.each([
  ['first', 'other'],
  ['other', 'first'],
])('if the %s one fails, the %s one continues', async (failing, other) => {
  const { ends, outcome, cancelled, tryOther } = createWays();
  tryOther();
  ends.get(failing)?.reject(new Error('no luck'));
  await turn();
  ends.get(other)?.resolve();
  expect(await outcome).toBe(other);
  expect(cancelled).toEqual([]);
});

test.each([
  ['first', 'other'],
  ['other', 'first'],
])('if both fail, %s before %s, it fails with the first way’s error', async (...order) => {
  const { ends, outcome, tryOther } = createWays();
  tryOther();
  for (const name of order) {
    ends.get(name)?.reject(new Error(`${name} has failed`));
    await turn();
  }
  await expect(outcome).rejects.toThrow('first has failed');
});

test('cancelling it cancels both', async () => {
  const { cancellation, cancelled, tryOther } = createWays();
  tryOther();
  cancellation.cancel(new Error('never mind'));
  expect(cancelled).toEqual(['first', 'other']);
});
