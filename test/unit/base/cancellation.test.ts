import { expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';

const REASON = new Error('enough');

test('listeners are called once, and removed ones are not', () => {
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

test('a late listener is called at once', () => {
  const cancellation = new Cancellation();
  cancellation.cancel(REASON);
  const heard: string[] = [];
  cancellation.listen(() => heard.push('late'));

  expect(heard).toEqual(['late']);
  expect(() => cancellation.throwIfCancelled()).toThrow(REASON);
});

test('a promise is awaited until cancellation', async () => {
  const cancellation = new Cancellation();
  await expect(cancellation.race(Promise.resolve('done'))).resolves.toBe('done');
  await expect(cancellation.race(Promise.reject(new Error('no')))).rejects.toThrow('no');

  const never = cancellation.race(new Promise(() => {}));
  cancellation.cancel(REASON);
  await expect(never).rejects.toBe(REASON);
  await expect(cancellation.race(Promise.resolve('too late'))).rejects.toBe(REASON);
});
