// The bare path to a server, below all interceptors: gets the child from the pool, sends the request, shapes the result.
import { isObject } from '../base/object.ts';
import { signQuestionsIn } from '../mcp/questions.ts';
import { wrapTasksIn } from '../mcp/tasks.ts';
import type { Pool } from '../pool/pool.ts';
import { INTERNAL_ERROR, INVALID_PARAMS, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { Call, Send } from './call.ts';
import { useChild } from './starting.ts';
import { callTool } from './tool-call.ts';

export function createSend(pool: Pool): Send {
  // Not async: every extra promise costs on every call.
  return (call) => {
    if (call.method === 'tools/call') return callTool(pool, call);
    if (call.method === 'tools/list') return listTools(pool, call);
    return ask(pool, call);
  };
}

/** All pages of the list, without tools that must not be shown. */
async function listTools(pool: Pool, { server, context }: Call): Promise<Verbatim> {
  const child = await useChild(pool, server, context);
  const tools = await child.listTools({ cancellation: context.cancellation });
  pool.remember(server, tools);
  return Verbatim.of({ tools });
}

async function ask(pool: Pool, call: Call): Promise<Verbatim> {
  const { server, method, params, context } = call;
  const child = await useChild(pool, server, context);
  const { caller } = context;
  const isAboutTask = method.startsWith('tasks/');
  if (isAboutTask && child.greeting.era !== caller?.era) throw noSuchTask();
  const about = describe(call);
  const result = await child.ask(method, params, context, about);
  if (!isObject(result.value)) {
    throw new RpcError(INTERNAL_ERROR, `Server "${server.name}" returned no result for ${about}.`);
  }
  if (!isAboutTask) return result;
  const sign = (text: string): string => caller?.sign?.(text) ?? '';
  return wrapTasksIn(signQuestionsIn(result, server.name), { childName: server.name, sign });
}

const NOUNS: Readonly<Record<string, string>> = {
  'prompts/get': 'prompt',
  'resources/read': 'resource',
};

/** Names the call in errors. */
function describe({ method, target }: Call): string {
  if (method === 'completion/complete') return 'a completion';
  return `${NOUNS[method] ?? 'task'} "${target}"`;
}

export function noSuchTask(): RpcError {
  return new RpcError(INVALID_PARAMS, 'Unknown task.');
}
