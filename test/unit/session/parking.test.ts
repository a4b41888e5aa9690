import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import type { QuestionMethod } from '../../../src/mcp/caller.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { ParkedCall, Parking } from '../../../src/session/parking.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A call, its questions, and the one who decides how it ends. */
function createCall() {
  const call = new ParkedCall(new Cancellation());
  let finish = (_result: Verbatim): void => {};
  let fail = (_error: Error): void => {};
  call.outcome = new Promise((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  call.outcome.catch(() => {});
  const ask = (params: unknown, method: QuestionMethod = 'elicitation/create') => {
    const cancellation = new Cancellation();
    const answer = call.ask({ method, params: Verbatim.of(params), cancellation });
    answer.catch(() => {});
    return { answer, cancellation };
  };
  return { call, ask, finish, fail };
}

const questionsIn = (next: Awaited<ReturnType<ParkedCall['next']>>): unknown =>
  'questions' in next ? JSON.parse(next.questions.text) : next;

test('a call without questions ends with its result or error', async () => {
  const one = createCall();
  one.finish(Verbatim.of('done'));
  expect(await one.call.next()).toMatchObject({ result: { value: 'done' } });
  const other = createCall();
  other.fail(new Error('no luck'));
  await expect(other.call.next()).rejects.toThrow('no luck');
});

test('questions asked together are forwarded together, unchanged', async () => {
  const { call, ask } = createCall();
  const next = call.next();
  ask({ message: 'Who?' });
  ask({ a: 1 }, 'sampling/createMessage');
  expect(questionsIn(await next)).toEqual({
    question_1: { method: 'elicitation/create', params: { message: 'Who?' } },
    question_2: { method: 'sampling/createMessage', params: { a: 1 } },
  });
});

test('a question withdrawn before it is forwarded does not hide the result', async () => {
  const { call, ask, finish } = createCall();
  const next = call.next();
  ask({ message: 'Who?' }).cancellation.cancel(new Error('never mind'));
  finish(Verbatim.of('done'));
  expect(await next).toMatchObject({ result: { value: 'done' } });
});

test('each answer goes to its question; unanswered ones are asked again', async () => {
  const { call, ask, finish } = createCall();
  const [one, other] = [ask({ number: 1 }), ask({ number: 2 })];
  await call.next();
  const text = '{"question_1":{"n":12345678901234567890},"question_9":{}}';
  call.answer(new Verbatim(text, JSON.parse(text)));
  expect((await one.answer).text).toBe('{"n":12345678901234567890}');
  expect(questionsIn(await call.next())).toEqual({
    question_2: { method: 'elicitation/create', params: { number: 2 } },
  });
  call.answer(Verbatim.of({ question_1: 'again', question_2: 'now' }));
  expect((await other.answer).value).toBe('now');
  finish(Verbatim.of('done'));
  expect(await call.next()).toMatchObject({ result: { value: 'done' } });
});

test.each([undefined, Verbatim.of(null), Verbatim.of('x'), Verbatim.of([1])])(
  'invalid answers leave the question open',
  async (responses) => {
    const { call, ask } = createCall();
    ask({});
    call.answer(responses);
    expect(questionsIn(await call.next())).toHaveProperty('question_1');
  },
);

test('a question the server cancels is not asked again', async () => {
  const { call, ask } = createCall();
  const [one] = [ask({ number: 1 }), ask({ number: 2 })];
  one.cancellation.cancel(new Error('never mind'));
  await expect(one.answer).rejects.toThrow('never mind');
  expect(questionsIn(await call.next())).toEqual({
    question_2: { method: 'elicitation/create', params: { number: 2 } },
  });
});

test('giving up cancels the call and its questions', async () => {
  const { call, ask } = createCall();
  const [one, other] = [ask({}), ask({})];
  const reason = new Error('the host has gone');
  call.giveUp(reason);
  await expect(one.answer).rejects.toBe(reason);
  await expect(other.answer).rejects.toBe(reason);
  expect(call.cancellation.reason).toBe(reason);
});

test('a handle works once, and others do not work', () => {
  const parking = new Parking();
  const { call } = createCall();
  const handle = parking.park(call, 1_000);
  expect(() => parking.resume(`${handle}x`)).toThrow('requestState');
  expect(parking.resume(handle)).toBe(call);
  expect(() => parking.resume(handle)).toThrow('requestState');
});

test('a call the host does not return for in time is cancelled', async () => {
  const parking = new Parking();
  const { call, ask } = createCall();
  const { answer } = ask({});
  const handle = parking.park(call, 1_000);
  vi.advanceTimersByTime(999);
  expect(call.cancellation.reason).toBeUndefined();
  vi.advanceTimersByTime(1);
  await expect(answer).rejects.toThrow('The question was not answered in time.');
  expect(call.cancellation.reason?.message).toBe('The question was not answered in time.');
  expect(() => parking.resume(handle)).toThrow('requestState');
});

test('a call the host returned for is not cancelled later', () => {
  const parking = new Parking();
  const { call } = createCall();
  parking.resume(parking.park(call, 1_000));
  vi.advanceTimersByTime(10_000);
  expect(call.cancellation.reason).toBeUndefined();
});

test('a hundred calls can be parked; one more is cancelled, and there is room again later', () => {
  const parking = new Parking();
  const handles = Array.from({ length: 100 }, () => parking.park(createCall().call, 1_000));
  expect(new Set(handles).size).toBe(100);
  const { call } = createCall();
  expect(() => parking.park(call, 1_000)).toThrow('100 calls are already waiting for answers.');
  expect(call.cancellation.reason?.message).toBe('100 calls are already waiting for answers.');
  parking.resume(handles[0] ?? '');
  parking.park(createCall().call, 1_000);
});

test('closing cancels all parked calls', async () => {
  const parking = new Parking();
  const { call, ask } = createCall();
  const { answer } = ask({});
  const handle = parking.park(call, 1_000);
  parking.close();
  await expect(answer).rejects.toThrow('shutting down');
  expect(call.cancellation.reason).toBeDefined();
  expect(() => parking.resume(handle)).toThrow('requestState');
});
