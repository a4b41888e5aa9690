// Requests over HTTP that end when they are called off.
import type { Cancellation } from '../../base/cancellation.ts';

/** What the action gives; the reason, where it failed because it was called off. */
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
