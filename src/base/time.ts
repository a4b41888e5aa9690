// Waiting with limits.
import { Cancellation } from './cancellation.ts';

/** Like `performance.now()`, which loads a module of Node first. For code that must start fast. */
export function uptimeMs(): number {
  return process.uptime() * 1_000;
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Sleeps, but rejects at once when cancelled. */
export async function pause(ms: number, cancellation: Cancellation): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await cancellation.race(new Promise((resolve) => (timer = setTimeout(resolve, ms))));
  } finally {
    clearTimeout(timer);
  }
}

const POLL_MS = 15;

/** Resolves when the condition is true, at the latest after the limit. */
export async function waitUntil(isTrue: () => boolean, limitMs: number): Promise<void> {
  const end = performance.now() + limitMs;
  while (!isTrue() && performance.now() < end) {
    await sleep(POLL_MS);
  }
}

/** Settles like the promise, or resolves with undefined after the limit; the promise keeps running. */
export async function settleWithin<T>(
  promise: Promise<T>,
  limitMs: number,
): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, limitMs, undefined).unref();
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Runs work that is cancelled after the limit, or together with `cancellation`. */
export async function withTimeout<T>(
  limitMs: number,
  cancellation: Cancellation,
  tooLate: () => Error,
  work: (limited: Cancellation) => Promise<T>,
): Promise<T> {
  const limited = new Cancellation();
  const follow = (): void => {
    if (cancellation.reason) limited.cancel(cancellation.reason);
  };
  cancellation.listen(follow);
  const timer = setTimeout(() => limited.cancel(tooLate()), limitMs);
  try {
    return await work(limited);
  } finally {
    clearTimeout(timer);
    cancellation.unlisten(follow);
  }
}
