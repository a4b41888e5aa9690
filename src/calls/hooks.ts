// Runs hooks around tool calls, if there are any.
import type { Config } from '../config/config.ts';
import type { HookParts } from '../trust/hooks/hooks.ts';
import { type Interceptor, lazily } from './call.ts';

/** Undefined if the configuration has no hooks. */
export function callHooks(
  { hooks, children }: Pick<Config, 'hooks' | 'children'>,
  parts: Omit<HookParts, 'children'>,
): Interceptor | undefined {
  if (!hooks) return undefined;
  const intercept = lazily(async () => {
    const { Hooks } = await import('../trust/hooks/hooks.ts');
    const own = new Hooks(hooks, { ...parts, children });
    return (call, next) => own.around(call, next);
  });
  return (call, next) => (call.method === 'tools/call' ? intercept(call, next) : next(call));
}
