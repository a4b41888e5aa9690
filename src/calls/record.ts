// One record per call, for the log, statistics and audits. Records are only built if something listens.
import { type ErrorCode, SwitchboardError } from '../base/errors.ts';
import { clientName } from '../mcp/caller.ts';
import { isErrorResult } from '../mcp/tools.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import type { Call, Send } from './call.ts';

/** `tool_error`: the tool ran and reported a failure. `denied`: our own rules refused the call. */
type Outcome = 'ok' | 'tool_error' | 'error' | 'timeout' | 'cancelled' | 'denied';

export interface CallRecord {
  /** Sessions are numbered by their first call; undefined for calls without a caller. */
  readonly session: number | undefined;
  /** The name the host gives itself. */
  readonly host: string | undefined;
  readonly server: string;
  readonly method: string;
  /** The tool, prompt, resource or task. */
  readonly target: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** A tool's arguments, or the params of any other method. Listeners must not write them as they are. */
  readonly params: Verbatim;
  /** Bytes of the params. */
  readonly bytesIn: number;
  /** Bytes of the result; 0 without one. */
  readonly bytesOut: number;
  readonly outcome: Outcome;
  /** The error's code, if it was one of ours. */
  readonly code: ErrorCode | undefined;
}

export type CallListener = (record: CallRecord) => void;

/** Numbers sessions without keeping them alive. */
export class SessionNumbers {
  readonly #numbers = new WeakMap<object, number>();
  #last = 0;

  of(party: object): number {
    const known = this.#numbers.get(party) ?? ++this.#last;
    this.#numbers.set(party, known);
    return known;
  }
}

/** Reports every call to the listener, which must not throw. */
export function recordCalls(send: Send, sessions: SessionNumbers, listener: CallListener): Send {
  return async (call) => {
    const startedAt = now();
    const record = (outcome: Outcome, result?: Verbatim, error?: unknown): void => {
      const { server, method, target, params, context } = call;
      const { caller } = context;
      listener({
        session: caller && sessions.of(caller.party),
        host: clientName(caller?.info),
        server: server.name,
        method,
        target,
        startedAt,
        endedAt: now(),
        params,
        bytesIn: Buffer.byteLength(params.text),
        bytesOut: result?.byteLength ?? 0,
        outcome,
        code: error instanceof SwitchboardError ? error.code : undefined,
      });
    };
    let result: Verbatim;
    try {
      result = await send(call);
    } catch (error) {
      record(outcomeOf(error, call), undefined, error);
      throw error;
    }
    record(isErrorResult(result.value) ? 'tool_error' : 'ok', result);
    return result;
  };
}

/** The time of day, but as monotonic as durations need it. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

function outcomeOf(error: unknown, { context }: Call): Outcome {
  if (context.cancellation.reason) return 'cancelled';
  if (!(error instanceof SwitchboardError)) return 'error';
  return OUTCOMES[error.code] ?? 'error';
}

const OUTCOMES: { readonly [code in ErrorCode]?: Outcome } = {
  CANCELLED: 'cancelled',
  CHILD_TIMEOUT: 'timeout',
  TOOL_NOT_ALLOWED: 'denied',
  HOOK_DENIED: 'denied',
  HOOK_FAILED: 'denied',
  AUDIT_FAILED: 'denied',
  TOOL_HELD: 'denied',
};
