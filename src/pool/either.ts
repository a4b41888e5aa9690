// Two ways to get one result. The second starts only when the first asks for it, and runs alongside it.
import { Cancellation } from '../base/cancellation.ts';

export interface Ways<T> {
  readonly first: (cancellation: Cancellation, tryOther: () => void) => Promise<T>;
  readonly other: (cancellation: Cancellation) => Promise<T>;
  /** Both succeeded, and this is the later result. */
  readonly discard: (late: T) => void;
}

/** The first success; the other way is cancelled. If both fail, rejects with the first way's error. */
export function either<T>(cancellation: Cancellation, ways: Ways<T>): Promise<T> {
  const underway = new Set<Cancellation>();
  const cancelAll = (reason: Error): void => {
    for (const one of underway) one.cancel(reason);
  };
  const follow = (): void => cancelAll(cancellation.reason ?? new Error('It was cancelled.'));
  return new Promise<T>((resolve, reject) => {
    let failure: unknown;
    let isDone = false;
    const go = (way: (own: Cancellation) => Promise<T>, onFailure: (error: unknown) => void) => {
      const own = new Cancellation();
      underway.add(own);
      way(own).then(
        (result) => {
          underway.delete(own);
          if (isDone) return ways.discard(result);
          isDone = true;
          cancelAll(new Error('The other attempt succeeded.'));
          resolve(result);
        },
        (error: unknown) => {
          underway.delete(own);
          onFailure(error);
          if (underway.size === 0) reject(failure);
        },
      );
    };
    const tryOther = (): void => go(ways.other, () => {});
    cancellation.listen(follow);
    go(
      (own) => ways.first(own, tryOther),
      (error) => {
        failure = error;
      },
    );
  }).finally(() => cancellation.unlisten(follow));
}
