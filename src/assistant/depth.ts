// Nested assistants. A server may be Switchboard again, with the same configuration, whose assistant would start
// another one, and so on. So an assistant passes its depth to the processes it starts, up to a limit.
import { SwitchboardError } from '../base/errors.ts';

const VARIABLE = 'SWITCHBOARD_ASSISTANT_DEPTH';
/** An assistant that asks another is useful; there's no known use for a third. */
const DEEPEST = 2;

/** The environment variable that tells processes their depth. */
export function depthMark(env: NodeJS.ProcessEnv, isAssistant: boolean): Record<string, string> {
  const depth = depthIn(env) + (isAssistant ? 1 : 0);
  return depth === 0 ? {} : { [VARIABLE]: String(depth) };
}

export function refuseTooDeep(env: NodeJS.ProcessEnv, childName: string): void {
  const depth = depthIn(env);
  if (depth < DEEPEST) return;
  throw new SwitchboardError(
    'ASSISTANT_NOT_CONFIGURED',
    `The assistant for server "${childName}" was not started because it is nested ${depth} levels deep: a server starts Switchboard with the same assistant.`,
    {
      hint: `Give the nested Switchboard its own configuration, or turn its assistant off: switchboard assistant ${childName} off`,
    },
  );
}

/** An invalid value counts as 0. */
function depthIn(env: NodeJS.ProcessEnv): number {
  const depth = Number(env[VARIABLE]);
  return Number.isSafeInteger(depth) && depth > 0 ? depth : 0;
}
