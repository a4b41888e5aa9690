import { expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';

const REASON = new Error('enough');

test('listeners hear of it once, and those that left do not', () => {
  const cancellation = new Cancellation();
  const heard: string[] = [];
  const leaver = () => heard.push('leaver');
  cancellation.listen(() => heard.push('stayer'));
  cancellation.listen(leaver);
  cancellation.unlisten(leaver);
  cancellation.cancel(REASON);
  cancellation.cancel(new Error('again'));

  expect(heard).toEqual(['stayer']);
  expect(cancellation.reason).toBe(REASON);
});

test('who listens too late hears at once', () => {
  const cancellation = new Cancellation();
  cancellation.cancel(REASON);
  const heard: string[] = [];
  cancellation.listen(() => heard.push('late'));

  expect(heard).toEqual(['late']);
  expect(() => cancellation.throwIfCancelled()).toThrow(REASON);
});

test('a promise is waited for until it is called off', async () => {
  const cancellation = new Cancellation();
  await expect(cancellation.race(Promise.resolve('done'))).resolves.toBe('done');
  await expect(cancellation.race(Promise.reject(new Error('no')))).rejects.toThrow('no');

  const never = cancellation.race(new Promise(() => {}));
  cancellation.cancel(REASON);
  await expect(never).rejects.toBe(REASON);
  await expect(cancellation.race(Promise.resolve('too late'))).rejects.toBe(REASON);
});
