import { expect, test } from 'vitest';
import { Waiting } from '../../../src/rpc/waiting.ts';

function createWaiting() {
  const waiting = new Waiting<{ id: number }>();
  const begin = () => {
    const entry = { id: waiting.nextId() };
    waiting.add(entry);
    return entry;
  };
  return { waiting, begin };
}

test('each entry is found only by its own id', () => {
  const { waiting, begin } = createWaiting();
  const first = begin();
  const second = begin();

  expect([first.id, second.id]).toEqual([1, 2]);
  expect(waiting.get(1)).toBe(first);
  expect(waiting.get(2)).toBe(second);
  const others = [0, -1, 1.5, NaN, Infinity, 1 + 64, 1 + 2 ** 40, '1', undefined];
  for (const other of others) expect(waiting.get(other)).toBeUndefined();
});

test('a removed entry is not found, and removal works once', () => {
  const { waiting, begin } = createWaiting();
  const entry = begin();
  const other = begin();
  waiting.remove(entry);
  waiting.remove(entry);

  expect(waiting.get(entry.id)).toBeUndefined();
  expect(waiting.all()).toEqual([other]);
  expect(waiting.size).toBe(1);
});

test('ids only increase, even if one waits much longer than all others', () => {
  const { waiting, begin } = createWaiting();
  const patient = begin();
  let last = patient.id;
  for (let count = 0; count < 1_000; count++) {
    const entry = begin();
    expect(entry.id).toBeGreaterThan(last);
    last = entry.id;
    waiting.remove(entry);
  }

  expect(waiting.all()).toEqual([patient]);
  expect(waiting.get(patient.id)).toBe(patient);
});

test('many entries fit, and all are found, oldest first', () => {
  const { waiting, begin } = createWaiting();
  for (let count = 0; count < 100; count++) waiting.remove(begin());
  const entries = Array.from({ length: 5_000 }, begin);

  expect(waiting.size).toBe(5_000);
  expect(waiting.all()).toEqual(entries);
  for (const entry of entries) expect(waiting.get(entry.id)).toBe(entry);
});
