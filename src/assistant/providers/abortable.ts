// Aborts an HTTP request when its query is cancelled.
import type { Cancellation } from '../../base/cancellation.ts';

/** Rejects with the reason if cancelled. */
export async function abortable<T>(
  cancellation: Cancellation,
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  cancellation.throwIfCancelled();
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  cancellation.listen(abort);
  try {
    return await action(controller.signal);
  } catch (error) {
    throw cancellation.reason ?? error;
  } finally {
    cancellation.unlisten(abort);
  }
}
