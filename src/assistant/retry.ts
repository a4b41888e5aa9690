// Asking a provider again. Only a request that was refused, for now, is repeated: one that was answered
// or whose answer did not come in time may have been paid for.
import type { Cancellation } from '../base/cancellation.ts';
import { explainModelFailure } from './failures.ts';
import {
  type Completion,
  type CompletionRequest,
  ModelFailure,
  type Provider,
} from './provider.ts';

export interface RetryOptions {
  /** The time that is left for everything. */
  readonly remainingMs: () => number;
  readonly onWait: (ms: number) => void;
}

/** Milliseconds before each repetition, where the provider names no time; there are no more. */
const WAITS_MS = [500, 2_000];
/**
 * Refusals that mean "not now", said before anything was begun. A failure in between (500) is none, nor is
 * a gateway's that got no answer (502) or none in time (504): the model may have done its work by then.
 */
const NOT_NOW = new Set([429, 503, 529]);

export async function completePatiently(
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

async function pause(ms: number, cancellation: Cancellation): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await cancellation.orElse(new Promise((resolve) => (timer = setTimeout(resolve, ms))));
  } finally {
    clearTimeout(timer);
  }
}
