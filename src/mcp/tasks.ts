// Tasks: calls that are answered at once with a name to ask for them by, and carried out meanwhile. A
// task belongs to the child that runs it, so the name that the host gets says which that is, and nothing
// has to be kept here. The two eras have different tasks; they are handed on within one era only.
import { isObject } from '../base/object.ts';
import { Verbatim } from '../rpc/verbatim.ts';

/** The extension of the modern era; the handshake era has tasks as a part of 2025-11-25. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
const RELATED = 'io.modelcontextprotocol/related-task';

/** Whether a child has answered a call with a task. */
export function isTask(result: unknown): boolean {
  if (!isObject(result)) return false;
  return result['resultType'] === 'task' || (isObject(result['task']) && !('content' in result));
}

/** The name of a child's task as the host knows it. */
function wrapTaskId(childName: string, taskId: string): string {
  return `${Buffer.from(childName).toString('base64url')}.${taskId}`;
}

/** The child and its own name for a task that the host names; undefined for what is no such name. */
export function unwrapTaskId(id: unknown): { childName: string; taskId: string } | undefined {
  const [, child = '', taskId] = /^([\w-]+)\.(.+)$/s.exec(typeof id === 'string' ? id : '') ?? [];
  if (taskId === undefined) return undefined;
  return { childName: Buffer.from(child, 'base64url').toString(), taskId };
}

/** A child's result with the tasks in it named as the host knows them. */
export function wrapTasksIn(result: Verbatim, childName: string): Verbatim {
  const inside = renamed(result, 'task', childName) ?? result;
  const related = inside.member('_meta', RELATED);
  const meta = inside.member('_meta');
  const renamedMeta = related && meta && renamed(meta, RELATED, childName);
  return withTaskId(renamedMeta ? inside.with('_meta', renamedMeta) : inside, childName);
}

function renamed(holder: Verbatim, key: string, childName: string): Verbatim | undefined {
  const member = holder.member(key);
  return isObject(member?.value) ? holder.with(key, withTaskId(member, childName)) : undefined;
}

function withTaskId(holder: Verbatim, childName: string): Verbatim {
  const id = isObject(holder.value) ? holder.value['taskId'] : undefined;
  if (typeof id !== 'string') return holder;
  return holder.with('taskId', Verbatim.of(wrapTaskId(childName, id)));
}
