// With `toolChanges: "hold"`, a changed tool or prompt must not be used even if nobody has listed it. So the server's
// lists are checked before the first call to each of its processes, and after each announced change.
import type { Config } from '../config/config.ts';
import type { Pool } from '../pool/pool.ts';
import type { Call, Interceptor } from './call.ts';
import type { InterceptorParts } from './calls.ts';
import { useChild } from './starting.ts';
import { heldBack } from './tool-call.ts';

/** Undefined if no server holds changes. */
export function holdChanges(
  { children }: Pick<Config, 'children'>,
  { pool }: Pick<InterceptorParts, 'pool'>,
): Interceptor | undefined {
  const isNeeded = [...children.values()].some(({ toolChanges }) => toolChanges === 'hold');
  if (!isNeeded) return undefined;
  return async (call, next) => {
    if (call.server.toolChanges === 'hold' && CHECKED.has(call.method)) await check(pool, call);
    return next(call);
  };
}

/** A completion is for a prompt or a resource. */
const CHECKED = new Set(['tools/call', 'prompts/get', 'completion/complete']);

async function check(pool: Pool, { server, method, target, context }: Call): Promise<void> {
  const child = await useChild(pool, server, context);
  await context.cancellation.race(pool.verify(server.name));
  // Tools are checked on the way to the server.
  if (method === 'tools/call' || !child.heldPrompts.includes(target)) return;
  throw heldBack('Prompt', server, { name: target, where: 'changed' });
}
