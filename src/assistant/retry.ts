// Retries a provider. Only requests refused as "not now" are repeated: one that was answered, or whose
// answer was late, may have been charged.
import { pause } from '../base/time.ts';
import { explainModelFailure } from './failures.ts';
import {
  type Completion,
  type CompletionRequest,
  ModelFailure,
  type Provider,
} from './provider.ts';

export interface RetryOptions {
  /** The time left for the whole query. */
  readonly remainingMs: () => number;
  readonly onWait: (ms: number) => void;
}

/** Before each retry, unless the provider names a time. */
const WAITS_MS = [500, 2_000];
/** Statuses that mean "not now", before any work. Not 500, 502 or 504: by then the model may have done its work. */
const NOT_NOW = new Set([429, 503, 529]);

export async function completeWithRetries(
  provider: Provider,
  request: CompletionRequest,
  { remainingMs, onWait }: RetryOptions,
): Promise<Completion> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await provider.complete(request);
    } catch (error) {
      if (!(error instanceof ModelFailure)) throw error;
      const waitMs = waitAfter(error, attempt);
      if (waitMs === undefined || waitMs >= remainingMs()) {
        throw explainModelFailure(error, provider);
      }
      onWait(waitMs);
      await pause(waitMs, request.cancellation);
    }
  }
}

function waitAfter({ status, retryAfterMs }: ModelFailure, attempt: number): number | undefined {
  const usualMs = WAITS_MS[attempt];
  if (usualMs === undefined || status === undefined || !NOT_NOW.has(status)) return undefined;
  return retryAfterMs ?? usualMs;
}
