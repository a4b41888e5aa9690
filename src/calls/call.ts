// A request to a server on someone's behalf, and the one function type it passes through. Work that
// concerns every call (rules, limits, redaction) is an `Interceptor` around it.
import type { Cancellation } from '../base/cancellation.ts';
import type { CallOptions } from '../child/child.ts';
import type { ChildConfig } from '../config/config.ts';
import type { Framing } from '../rpc/framing.ts';
import type { Verbatim } from '../rpc/verbatim.ts';

/** Travels with a request from the host to the server: created once, then passed by reference. */
export interface CallContext extends CallOptions {
  readonly cancellation: Cancellation;
  /** The host's framing, which determines the shape of our own results. */
  readonly framing?: Framing;
}

export interface Call {
  readonly server: ChildConfig;
  readonly method: string;
  /** The tool, prompt, resource or task it is about; empty for `tools/list`. */
  readonly target: string;
  /** A tool's arguments, or the params of any other method. */
  readonly params: Verbatim;
  readonly context: CallContext;
  /** Errors suggest `introspect` only to callers that used a suite. */
  readonly through: 'suite' | 'tool';
  /** Set if the host was promised that this call only reads. */
  readonly readOnly?: ReadOnlyClaim | undefined;
}

export interface ReadOnlyClaim {
  /** The suite that promised it. */
  readonly suite: string;
  /** What to do about a tool that does more than read. */
  readonly hint: string;
}

/** Sends one call and returns the server's result. Failures are rejections, never thrown directly. */
export type Send = (call: Call) => Promise<Verbatim>;

/**
 * Sees every call and its result. It can refuse the call, forward a changed one, or change the result; it calls
 * `next` at most once, because a call must never reach a server twice.
 */
export type Interceptor = (call: Call, next: Send) => Promise<Verbatim>;

/**
 * An interceptor whose code is loaded by the first call, so that a rule nobody set costs nothing. If loading fails,
 * so does the call.
 */
export function lazily(load: () => Promise<Interceptor>): Interceptor {
  let loading: Promise<Interceptor> | undefined;
  return async (call, next) => {
    loading ??= load();
    try {
      await loading;
    } catch (error) {
      loading = undefined;
      throw error;
    }
    return (await loading)(call, next);
  };
}

/** Wraps `send`; the first interceptor is the outermost. Without any, the result is `send` itself. */
export function compose(interceptors: readonly Interceptor[], send: Send): Send {
  return interceptors.reduceRight<Send>((next, intercept) => (call) => intercept(call, next), send);
}
