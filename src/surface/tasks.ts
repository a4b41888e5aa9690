// Asking after a task: it is known to the child that runs it, if that still does and speaks the era of
// the host. All tasks at once are not listed: a child serves several hosts, and does not know whose each is.
import { isObject } from '../base/object.ts';
import type { ChildConfig } from '../config/config.ts';
import { signQuestionsIn } from '../mcp/questions.ts';
import { unwrapTaskId, wrapTasksIn } from '../mcp/tasks.ts';
import type { Pool } from '../pool/pool.ts';
import { INVALID_PARAMS, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { SurfaceOptions } from './surface.ts';

export async function askTask(
  children: readonly ChildConfig[],
  pool: Pool,
  method: string,
  params: Verbatim,
  options: SurfaceOptions,
): Promise<Verbatim> {
  const id = unwrapTaskId(isObject(params.value) ? params.value['taskId'] : undefined);
  const config = children.find(({ name }) => name === id?.childName);
  const isRunning = config && pool.report(config.name).state === 'ready';
  const child = isRunning && (await pool.use(config.name, options.cancellation));
  if (!id || !child || child.greeting.era !== options.caller?.era) {
    throw new RpcError(INVALID_PARAMS, 'There is no such task.');
  }
  const own = params.with('taskId', Verbatim.of(id.taskId));
  const result = await child.ask(method, own, options, `task "${id.taskId}"`);
  return wrapTasksIn(signQuestionsIn(result, id.childName), id.childName);
}
