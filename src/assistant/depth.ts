// Assistants inside one another. A server may be Switchboard again, with the same configuration: then its
// assistant would start another, and that one another, without end. So what an assistant starts is told
// how many there are above it, and from some number on none is started.
import { SwitchboardError } from '../base/errors.ts';

const VARIABLE = 'SWITCHBOARD_ASSISTANT_DEPTH';
/** One that asks another is of use; nobody has found a use for a third. */
const DEEPEST = 2;

/** What tells the processes that we start how many assistants there are above them. */
export function depthMark(env: NodeJS.ProcessEnv, isAssistant: boolean): Record<string, string> {
  const depth = depthIn(env) + (isAssistant ? 1 : 0);
  return depth === 0 ? {} : { [VARIABLE]: String(depth) };
}

export function refuseTooDeep(env: NodeJS.ProcessEnv, childName: string): void {
  const depth = depthIn(env);
  if (depth < DEEPEST) return;
  throw new SwitchboardError(
    'ASSISTANT_NOT_CONFIGURED',
    `The assistant of the server "${childName}" is not started: there are ${depth} assistants above it already, so that a server starts Switchboard with its own assistant again.`,
    {
      hint: `Give the Switchboard that runs as a server a configuration of its own, or switch its assistant off: switchboard assistant ${childName} off`,
    },
  );
}

/** What is no count, since somebody else has set it, counts for nothing. */
function depthIn(env: NodeJS.ProcessEnv): number {
  const depth = Number(env[VARIABLE]);
  return Number.isSafeInteger(depth) && depth > 0 ? depth : 0;
}
