import { expect, test } from 'vitest';
import { unwrapTaskId, wrapTasksIn } from '../../../src/mcp/tasks.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { StateSeal } from '../../../src/session/request-state.ts';

const seal = new StateSeal();
const sign = (text: string) => seal.sign(text);
const other = new StateSeal();

function idOf(childName: string, taskId: string): string {
  const wrapped = wrapTasksIn(Verbatim.of({ task: { taskId } }), { childName, sign });
  return (wrapped.value as { task: { taskId: string } }).task.taskId;
}

test.each([
  ['job', 't1'],
  ['a.b "c"', 'with.dots.and\nlines'],
  ['é', '…'],
])('a task id leads back to its server: %j, %j', (childName, taskId) => {
  expect(unwrapTaskId(idOf(childName, taskId), sign)).toEqual({ childName, taskId });
});

test('another session can neither use nor forge a task id', () => {
  const id = idOf('job', 't1');
  expect(unwrapTaskId(id, (text) => other.sign(text))).toBeUndefined();
  expect(unwrapTaskId(id, () => '')).toBeUndefined();
  const [child = '', signature = ''] = id.split('.');
  for (const made of [
    `${child}.${signature}.t2`,
    `${child}.t1`,
    `${child}..t1`,
    `${Buffer.from('other').toString('base64url')}.${signature}.t1`,
    id.slice(0, -1),
    '',
    7,
    undefined,
  ]) {
    expect(unwrapTaskId(made, sign)).toBeUndefined();
  }
});
