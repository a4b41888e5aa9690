// Requests about a task, from the session that began it, go to the child that runs it, if that is still
// running and speaks the host's era. `tasks/list` is not offered: a child serves several hosts and
// doesn't know whose each task is.
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
  const { caller } = options;
  const given = isObject(params.value) ? params.value['taskId'] : undefined;
  const sign = (text: string): string => caller?.sign?.(text) ?? '';
  const id = unwrapTaskId(given, sign);
  const config = children.find(({ name }) => name === id?.childName);
  const isRunning = config && pool.report(config.name).state === 'ready';
  const child = isRunning && (await pool.use(config.name, options.cancellation));
  if (!id || !child || child.greeting.era !== caller?.era) {
    throw new RpcError(INVALID_PARAMS, 'There is no such task.');
  }
  const own = params.with('taskId', Verbatim.of(id.taskId));
  const result = await child.ask(method, own, options, `task "${id.taskId}"`);
  return wrapTasksIn(signQuestionsIn(result, id.childName), { childName: id.childName, sign });
}
