import { expect, test } from 'vitest';
import { StartGate } from '../../../../src/agents/codex/start-gate.ts';
import { Cancellation } from '../../../../src/base/cancellation.ts';

/** Starts that end when they are told to. */
function starts() {
  const begun: string[] = [];
  const ends = new Map<string, { succeed: () => void; fail: (error: Error) => void }>();
  const start = (name: string) => () =>
    new Promise<string>((resolve, reject) => {
      begun.push(name);
      ends.set(name, { succeed: () => resolve(name), fail: reject });
    });
  return { begun, start, end: (name: string) => ends.get(name) };
}

test('starts run one by one until one has succeeded, then concurrently', async () => {
  const gate = new StartGate();
  const { begun, start, end } = starts();
  const pass = (name: string) => gate.pass(new Cancellation(), start(name));
  const [first, second, third, fourth] = ['1', '2', '3', '4'].map(pass);
  expect(begun).toEqual(['1']);
  end('1')?.fail(new Error('no'));
  await expect(first).rejects.toThrow('no');
  await expect.poll(() => begun).toEqual(['1', '2']);
  end('2')?.succeed();
  expect(await second).toBe('2');
  await expect.poll(() => begun).toEqual(['1', '2', '3', '4']);
  end('3')?.succeed();
  end('4')?.succeed();
  expect(await Promise.all([third, fourth])).toEqual(['3', '4']);
  void pass('5');
  expect(begun).toContain('5');
});

test('a start cancelled while waiting never begins', async () => {
  const gate = new StartGate();
  const { begun, start, end } = starts();
  const first = gate.pass(new Cancellation(), start('1'));
  const cancellation = new Cancellation();
  const second = gate.pass(cancellation, start('2'));
  const reason = new Error('enough');
  cancellation.cancel(reason);
  await expect(second).rejects.toBe(reason);
  end('1')?.succeed();
  await first;
  expect(begun).toEqual(['1']);
});
