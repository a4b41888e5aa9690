// Notes or masks secrets in the results of servers with `results.secrets`.
import { describeBug } from '../base/errors.ts';
import type { Config } from '../config/config.ts';
import { isInputRequired } from '../mcp/results.ts';
import { isTask } from '../mcp/tasks.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import { type Interceptor, lazily } from './call.ts';
import type { InterceptorParts } from './calls.ts';

/** Other results contain states and IDs that the host has to send back unchanged. */
const METHODS: ReadonlySet<string> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'tasks/result',
]);

/** Undefined if every server's results pass as they are. */
export function filterResults(
  { children }: Pick<Config, 'children'>,
  { pool, log }: Pick<InterceptorParts, 'pool' | 'log'>,
): Interceptor | undefined {
  if ([...children.values()].every(({ resultSecrets }) => resultSecrets === 'pass')) {
    return undefined;
  }
  return lazily(async () => {
    const [{ maskResult, noteSecrets }, { SecretFinders }] = await Promise.all([
      import('../trust/redaction/results.ts'),
      import('../trust/redaction/finder.ts'),
    ]);
    const finders = new SecretFinders();
    return async (call, next) => {
      const { server, method, target } = call;
      const { name, resultSecrets } = server;
      const result = await next(call);
      if (resultSecrets === 'pass' || !METHODS.has(method) || isUnfinished(result)) return result;
      try {
        const filter = resultSecrets === 'mask' ? maskResult : noteSecrets;
        const { found, result: filtered } = filter(result, finders.get(name, pool.secrets(name)));
        if (found.length > 0) {
          const done = resultSecrets === 'mask' ? 'masked' : 'found';
          const where = method === 'tools/call' ? target : method;
          log.info(`${name}: ${done} secrets in the result of ${where}: ${found.join(', ')}.`);
        }
        return filtered;
      } catch (error) {
        log.error(describeBug(error)); // a call never fails because of redaction
        return result;
      }
    };
  });
}

function isUnfinished({ value }: Verbatim): boolean {
  return isInputRequired(value) || isTask(value);
}
