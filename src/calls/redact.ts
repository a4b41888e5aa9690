// Tells a server's link which arguments `redact` names, so that it masks them in everything the server prints.
import { describeBug } from '../base/errors.ts';
import type { Config } from '../config/config.ts';
import { type Interceptor, lazily } from './call.ts';
import type { InterceptorParts } from './calls.ts';

/** Undefined if no server has such arguments. */
export function redactArguments(
  { children }: Pick<Config, 'children'>,
  { log }: Pick<InterceptorParts, 'log'>,
): Interceptor | undefined {
  if (![...children.values()].some(({ redact }) => redact.length > 0)) return undefined;
  return lazily(async () => {
    const { valuesAt } = await import('../trust/redaction/paths.ts');
    return (call, next) => {
      const { server, method, params, context } = call;
      if (method !== 'tools/call' || server.redact.length === 0) return next(call);
      let secrets: readonly string[];
      try {
        secrets = valuesAt(params.value, server.redact);
      } catch (error) {
        log.error(describeBug(error)); // a call never fails because of redaction
        return next(call);
      }
      return secrets.length === 0
        ? next(call)
        : next({ ...call, context: { ...context, secrets } });
    };
  });
}
