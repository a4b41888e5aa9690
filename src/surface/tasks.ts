// Requests about a task go to the server that runs it, if it's still running and the session that started the task
// is asking. `tasks/list` isn't offered: a server works for several hosts and doesn't know which task belongs to
// which.
import { isObject } from '../base/object.ts';
import type { CallContext } from '../calls/call.ts';
import type { Calls } from '../calls/calls.ts';
import { noSuchTask } from '../calls/send.ts';
import type { ChildConfig } from '../config/config.ts';
import { unwrapTaskId } from '../mcp/tasks.ts';
import type { Pool } from '../pool/pool.ts';
import { Verbatim } from '../rpc/verbatim.ts';

interface TaskParts {
  readonly children: readonly ChildConfig[];
  readonly pool: Pool;
  readonly calls: Calls;
}

export async function askTask(
  { children, pool, calls }: TaskParts,
  method: string,
  params: Verbatim,
  context: CallContext,
): Promise<Verbatim> {
  const given = isObject(params.value) ? params.value['taskId'] : undefined;
  const id = unwrapTaskId(given, (text) => context.caller?.sign?.(text) ?? '');
  const server = children.find(({ name }) => name === id?.childName);
  // A server that has stopped has lost its tasks, so there is no point in starting it.
  if (!id || !server || pool.report(server.name).state !== 'ready') throw noSuchTask();
  const own = params.with('taskId', Verbatim.of(id.taskId));
  return calls.send({
    server,
    method,
    target: id.taskId,
    params: own,
    context,
    through: 'tool',
  });
}
