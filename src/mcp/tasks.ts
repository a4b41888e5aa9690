// Tasks: calls that run in the background and are answered at once with an ID. A task belongs to the server
// that runs it and the session that started it. The ID we give the host names the server and is signed for
// the session, so no other session can use it and we store nothing. Each era has its own kind of tasks,
// and we forward them only within one era.
import { isObject } from '../base/object.ts';
import { isSameSecret } from '../base/secrets.ts';
import { Verbatim } from '../rpc/verbatim.ts';

/** The modern era's extension; in the handshake era, tasks are part of 2025-11-25. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
const RELATED = 'io.modelcontextprotocol/related-task';

/** Whether a server has answered a call with a task. */
export function isTask(result: unknown): boolean {
  if (!isObject(result)) return false;
  return result['resultType'] === 'task' || (isObject(result['task']) && !('content' in result));
}

/** Signs a string for one session; see Caller. */
type Sign = (text: string) => string;

/** The server that runs a task, and the session it runs for. */
export interface TaskOwner {
  readonly childName: string;
  readonly sign: Sign;
}

/** The ID under which the host knows a server's task. */
function wrapTaskId({ childName, sign }: TaskOwner, taskId: string): string {
  const child = Buffer.from(childName).toString('base64url');
  return `${child}.${sign(signedText(childName, taskId))}.${taskId}`;
}

/** The server and its own task ID; undefined if the host's ID is invalid. */
export function unwrapTaskId(
  id: unknown,
  sign: Sign,
): { childName: string; taskId: string } | undefined {
  const parts = /^([\w-]+)\.([\w-]+)\.(.+)$/s.exec(typeof id === 'string' ? id : '');
  const [, child = '', signature = '', taskId = ''] = parts ?? [];
  const childName = Buffer.from(child, 'base64url').toString();
  const isSigned = parts && isSameSecret(signature, sign(signedText(childName, taskId)));
  return isSigned ? { childName, taskId } : undefined;
}

function signedText(childName: string, taskId: string): string {
  return JSON.stringify(['task', childName, taskId]);
}

/** A server's result with its task IDs replaced by those the host knows. */
export function wrapTasksIn(result: Verbatim, owner: TaskOwner): Verbatim {
  const inside = renamed(result, 'task', owner) ?? result;
  const related = inside.member('_meta', RELATED);
  const meta = inside.member('_meta');
  const renamedMeta = related && meta && renamed(meta, RELATED, owner);
  return withTaskId(renamedMeta ? inside.with('_meta', renamedMeta) : inside, owner);
}

function renamed(holder: Verbatim, key: string, owner: TaskOwner): Verbatim | undefined {
  const member = holder.member(key);
  return isObject(member?.value) ? holder.with(key, withTaskId(member, owner)) : undefined;
}

function withTaskId(holder: Verbatim, owner: TaskOwner): Verbatim {
  const id = isObject(holder.value) ? holder.value['taskId'] : undefined;
  if (typeof id !== 'string') return holder;
  return holder.with('taskId', Verbatim.of(wrapTaskId(owner, id)));
}
