// Waiting, and not for ever.
import { Cancellation } from './cancellation.ts';

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The work's outcome. It is called off when its time is over, or together with what it is a part of. */
export async function withinLimit<T>(
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
