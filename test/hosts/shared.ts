// A fixture for several checks: created before the first, closed after the last.
import { afterAll, beforeAll } from 'vitest';
import type { AtEnd } from './host-under-test.ts';

export function shared<T>(create: (atEnd: AtEnd) => Promise<T>): () => T {
  let value: T | undefined;
  const closers: Parameters<AtEnd>[0][] = [];
  beforeAll(async () => {
    value = await create((close) => closers.unshift(close));
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });
  return () => {
    if (value === undefined) throw new Error('The shared fixture could not be created.');
    return value;
  };
}
