import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ifUnlocked, LockedError, withLockFile } from '../../../src/base/lock.ts';
import { processPlace } from '../../../src/base/process-table.ts';

const TIMES = { staleMs: 60_000, waitMs: 90_000 };
/** The most that a process number can be is less than this on every system. */
const NOBODY = 2 ** 31 - 1;

function createLock() {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, lock: join(folder, 'lock') };
}

const ownerText = (pid: number, place = processPlace()) => JSON.stringify({ pid, place, id: 'x' });

test('work under one lock runs sequentially, and leaves nothing behind', async () => {
  const { folder, lock } = createLock();
  const steps: string[] = [];
  const work = async (name: string) => {
    steps.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    steps.push(`${name} ends`);
  };
  await Promise.all(['a', 'b', 'c'].map((name) => withLockFile(lock, TIMES, () => work(name))));
  expect(steps.filter((_, index) => index % 2 === 0).map((step) => `${step[0]} ends`)).toEqual(
    steps.filter((_, index) => index % 2 === 1),
  );
  expect(steps).toHaveLength(6);
  expect(readdirSync(folder)).toEqual([]);
});

describe('a lock is taken over', () => {
  test.each([
    ['whose owner is gone', ownerText(NOBODY), 0],
    ['that is too old, whoever has it', ownerText(process.pid, 'another machine'), -120_000],
    ['that is too old and says nothing', '', -120_000],
    ['that is of the future', '', 120_000],
  ])('%s', async (_what, content, ageMs) => {
    const { folder, lock } = createLock();
    writeFileSync(lock, content);
    const time = (Date.now() + ageMs) / 1_000;
    utimesSync(lock, time, time);
    const takers = ['a', 'b', 'c'].map((name) => withLockFile(lock, TIMES, async () => name));
    expect(await Promise.all(takers)).toEqual(['a', 'b', 'c']);
    expect(readdirSync(folder)).toEqual([]);
  });
});

test.each([
  ['lives', ownerText(process.pid)],
  ['is on another machine', ownerText(NOBODY, 'another machine')],
  ['is not known yet', ''],
])('a lock whose owner %s is waited for, and stays', async (_what, content) => {
  const { folder, lock } = createLock();
  writeFileSync(lock, content);
  const times = { staleMs: 60_000, waitMs: 50 };
  await expect(withLockFile(lock, times, async () => {})).rejects.toThrow(LockedError);
  expect(readdirSync(folder)).toEqual(['lock']);
});

describe('short work', () => {
  test('is done if the lock is free, and left out if it is taken', async () => {
    const { folder, lock } = createLock();
    const done: string[] = [];
    const work = (name: string) => ifUnlocked(lock, TIMES.staleMs, () => void done.push(name));
    work('before');
    await withLockFile(lock, TIMES, async () => work('during'));
    work('after');
    expect(done).toEqual(['before', 'after']);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('is done the next time after a stale lock', () => {
    const { lock } = createLock();
    writeFileSync(lock, ownerText(NOBODY));
    const done: number[] = [];
    for (const time of [1, 2]) ifUnlocked(lock, TIMES.staleMs, () => void done.push(time));
    expect(done).toEqual([2]);
  });
});
