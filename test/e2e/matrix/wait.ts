// Lists that become known after the start: asked for until they are what they should be.
import { expect } from 'vitest';
import { REQUEST_MS } from './hosts.ts';

export async function waitFor(ask: () => Promise<unknown>, expected: unknown): Promise<void> {
  await expect.poll(ask, { timeout: REQUEST_MS, interval: 50 }).toEqual(expected);
}
