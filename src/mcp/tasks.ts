// Tasks: calls that are answered at once with a name to ask for them by, and carried out meanwhile. A
// task belongs to the child that runs it and to the session that asked for it. The id that the host
// gets names the child and is signed for the session, so nobody else can use it and nothing has to be
// stored here. The two eras have different tasks; they are forwarded within one era only.
import { isObject } from '../base/object.ts';
import { isSameSecret } from '../base/secrets.ts';
import { Verbatim } from '../rpc/verbatim.ts';

/** The extension of the modern era; the handshake era has tasks as a part of 2025-11-25. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
const RELATED = 'io.modelcontextprotocol/related-task';

/** Whether a child has answered a call with a task. */
export function isTask(result: unknown): boolean {
  if (!isObject(result)) return false;
  return result['resultType'] === 'task' || (isObject(result['task']) && !('content' in result));
}

/** Signs a text for one session; see Caller. */
type Sign = (text: string) => string;

/** The child that runs a task, and the session it runs for. */
export interface TaskOwner {
  readonly childName: string;
  readonly sign: Sign;
}

/** The name of a child's task as the host knows it. */
function wrapTaskId({ childName, sign }: TaskOwner, taskId: string): string {
  const child = Buffer.from(childName).toString('base64url');
  return `${child}.${sign(signedText(childName, taskId))}.${taskId}`;
}

/** The child and its own name for a task that the host names; undefined for what is no such name. */
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

/** A child's result with the tasks in it named as the host knows them. */
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
