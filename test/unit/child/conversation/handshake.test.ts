import { afterEach, expect, test, vi } from 'vitest';
import { Cancellation } from '../../../../src/base/cancellation.ts';
import type { ChildRequest } from '../../../../src/child/conversation/conversation.ts';
import {
  HandshakeConversation,
  type HandshakeConversationOptions,
} from '../../../../src/child/conversation/handshake.ts';
import type { Caller, Question } from '../../../../src/mcp/caller.ts';
import { projectRoots } from '../../../../src/mcp/roots.ts';
import { METHOD_NOT_FOUND, RpcError } from '../../../../src/rpc/message.ts';
import { Verbatim } from '../../../../src/rpc/verbatim.ts';
import { FakeCaller } from '../../../support/fake-caller.ts';
import { turn } from '../../../support/fake-child.ts';
import { createScriptedPeer } from '../../../support/scripted-peer.ts';

/** Of every request, which none is meant to run into. */
const LIMIT_MS = 60_000;

afterEach(() => void vi.useRealTimers());

function createConversation(
  capabilities: Record<string, unknown> = {},
  askOutside = async (_question: Question) => Verbatim.of('from outside'),
  isShared = false,
  more: Partial<HandshakeConversationOptions> = {},
) {
  const scripted = createScriptedPeer({
    onRequest: (request) => conversation.answer(request),
    onNotification: (method, params) => params && conversation.receive(method, params),
  });
  const { peer, sent, receive } = scripted;
  const conversation = new HandshakeConversation({
    name: 'box',
    peer,
    capabilities,
    timeoutMs: LIMIT_MS,
    roots: { project: projectRoots('/the project'), isShared },
    askOutside,
    ...more,
  });
  const call = (name: string, caller?: Caller, more: Partial<ChildRequest> = {}) => {
    const params = Verbatim.of({ name, arguments: {} });
    const request = { method: 'tools/call', params, timeoutMs: LIMIT_MS, caller, ...more };
    const answered = conversation.request(request);
    answered.catch(() => {});
    return answered;
  };
  /** The ids of the calls of a tool that have reached the server. */
  const idsOf = (name: string) =>
    sent.filter(({ params }) => params?.['name'] === name).map(({ id }) => id);
  const finish = (name: string) => receive({ id: idsOf(name).at(-1), result: { done: name } });
  /** The server asks; gives what it is answered. */
  let questions = 0;
  const ask = async (method: string, params: object = {}) => {
    const id = `question ${++questions}`;
    receive({ id, method, params });
    await turn();
    return sent.find((message) => message.id === id);
  };
  return { ...scripted, conversation, call, finish, ask, idsOf };
}

test('a request reaches the server with its part of _meta, and nothing of ours', async () => {
  const { conversation, sent } = createConversation();
  const text = '{ "name": "a", "arguments": { "n": 12345678901234567890 } }';
  const meta = Verbatim.of({
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': {},
    'io.modelcontextprotocol/logLevel': 'info',
    progressToken: 'of the host',
    traceparent: '00-1',
  });
  const request = { method: 'tools/call', timeoutMs: LIMIT_MS, params: new Verbatim(text, {}) };
  conversation.request({ ...request, meta }).catch(() => {});
  conversation.request({ ...request, meta, onProgress: () => {} }).catch(() => {});
  conversation.request(request).catch(() => {});
  expect(sent.map(({ params }) => params?._meta)).toEqual([
    { traceparent: '00-1' },
    { traceparent: '00-1', progressToken: 2 },
    undefined,
  ]);
  expect(sent.map(({ params }) => params?.['name'])).toEqual(['a', 'a', 'a']);
});

test('a question goes to the caller of the current call, and the answer comes back', async () => {
  const { call, ask, finish } = createConversation();
  const caller = new FakeCaller();
  const answered = call('a', caller);
  expect(await ask('elicitation/create', { message: 'Who?' })).toMatchObject({
    result: { answerTo: 'elicitation/create' },
  });
  expect(caller.asked).toEqual(['elicitation/create {"message":"Server \\"box\\" asks: Who?"}']);
  finish('a');
  expect((await answered).value).toEqual({ done: 'a' });
});

test('the user’s time does not count towards the call’s limit', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { call, ask, finish } = createConversation();
  let reply = (_answer: Verbatim): void => {};
  const caller = new FakeCaller();
  caller.reply = () =>
    new Promise((resolve) => {
      reply = resolve;
    });
  const answered = call('a', caller);
  await vi.advanceTimersByTimeAsync(0.9 * LIMIT_MS);
  await ask('elicitation/create');
  await vi.advanceTimersByTimeAsync(100 * LIMIT_MS);
  reply(Verbatim.of({ action: 'accept' }));
  await turn();
  await vi.advanceTimersByTimeAsync(0.9 * LIMIT_MS);
  finish('a');
  expect((await answered).value).toEqual({ done: 'a' });
});

test('an unsupported question is refused, and the host learns which capability is missing', async () => {
  const { call, ask } = createConversation();
  const caller = new FakeCaller({ capabilities: { elicitation: {} } });
  void call('a', caller);
  expect(await ask('sampling/createMessage')).toMatchObject({ error: { code: METHOD_NOT_FOUND } });
  expect(await ask('elicitation/create', { mode: 'url' })).toMatchObject({
    error: { code: METHOD_NOT_FOUND },
  });
  expect(caller.asked).toEqual([]);
  expect(caller.missed).toEqual([{ sampling: {} }, { elicitation: { url: {} } }]);
});

test('a host’s refusal is the server’s answer', async () => {
  const { call, ask } = createConversation();
  const caller = new FakeCaller();
  caller.reply = () => Promise.reject(new RpcError(-1, 'The user has said no.'));
  void call('a', caller);
  expect(await ask('roots/list')).toMatchObject({
    error: { code: -1, message: 'The user has said no.' },
  });
});

test('a roots request outside a call is answered from outside', async () => {
  const asked: string[] = [];
  const { ask } = createConversation({}, async ({ method }) => {
    asked.push(method);
    return Verbatim.of({ roots: [] });
  });
  expect(await ask('roots/list')).toMatchObject({ result: { roots: [] } });
  expect(asked).toEqual(['roots/list']);
});

const PROJECT = { result: { roots: [{ uri: 'file:///the%20project', name: 'the project' }] } };

test('a host without roots gets no made-up ones: servers would drop their own folders for them', async () => {
  const { call, ask } = createConversation();
  const caller = new FakeCaller({ capabilities: {} });
  void call('a', caller);
  expect(await ask('roots/list')).toMatchObject({ error: { code: METHOD_NOT_FOUND } });
  expect(caller.asked).toEqual([]);
});

test('a shared server’s roots are the project, for every caller', async () => {
  const outside = vi.fn(async () => Verbatim.of('from outside'));
  const { call, ask } = createConversation({}, outside, true);
  expect(await ask('roots/list')).toMatchObject(PROJECT);
  const callers = [new FakeCaller(), new FakeCaller({ capabilities: {} })];
  for (const caller of callers) void call('a', caller);
  await turn();
  expect(await ask('roots/list')).toMatchObject(PROJECT);
  expect([outside.mock.calls, ...callers.map(({ asked }) => asked)]).toEqual([[], [], []]);
});
test.each(['elicitation/create', 'sampling/createMessage'])(
  'a question outside any call reaches no one: %s',
  async (method) => {
    const asked: string[] = [];
    const { call, ask, finish } = createConversation({}, async (question) => {
      asked.push(question.method);
      return Verbatim.of({});
    });
    const refused = {
      error: { message: expect.stringContaining('only during a call') as string },
    };
    expect(await ask(method)).toMatchObject(refused);
    const caller = new FakeCaller();
    const answered = call('a', caller);
    finish('a');
    await answered;
    expect(await ask(method)).toMatchObject(refused);
    expect([...asked, ...caller.asked]).toEqual([]);
  },
);

test('it may ping, and nothing else', async () => {
  const { ask } = createConversation();
  expect(await ask('ping')).toMatchObject({ result: {} });
  expect(await ask('tools/list')).toMatchObject({ error: { code: METHOD_NOT_FOUND } });
});

test('calls of two hosts that may both be asked run one after the other', async () => {
  const { call, ask, finish, idsOf } = createConversation();
  const [one, other] = [new FakeCaller(), new FakeCaller()];
  const first = call('a', one);
  const second = call('b', other);
  await turn();
  expect(idsOf('b')).toEqual([]);
  await ask('elicitation/create');
  expect([one.asked.length, other.asked.length]).toEqual([1, 0]);
  finish('a');
  await first;
  await turn();
  await ask('elicitation/create');
  expect([one.asked.length, other.asked.length]).toEqual([1, 1]);
  finish('b');
  expect((await second).value).toEqual({ done: 'b' });
});

test('calls of one host do not wait for each other', async () => {
  const { call, idsOf } = createConversation();
  const caller = new FakeCaller();
  void call('a', caller);
  void call('b', new FakeCaller({ party: caller }));
  await turn();
  expect([...idsOf('a'), ...idsOf('b')]).toEqual([1, 2]);
});

test('a call that once ran without a question runs alongside others', async () => {
  const { call, finish, idsOf } = createConversation();
  const quiet = call('quiet', new FakeCaller());
  finish('quiet');
  await quiet;
  void call('a', new FakeCaller());
  void call('quiet', new FakeCaller());
  await turn();
  expect(idsOf('quiet')).toHaveLength(2);
});

test('the number of calls known to be quiet is limited', async () => {
  const { call, finish, idsOf, sent, receive } = createConversation();
  const caller = new FakeCaller();
  const quiet = call('quiet', caller);
  finish('quiet');
  await quiet;
  for (let count = 0; count < 10_000; count++) {
    const answered = call(`one of many ${count}`, caller);
    receive({ id: sent.at(-1)?.id, result: {} });
    await answered;
  }
  void call('a', new FakeCaller());
  void call('quiet', new FakeCaller());
  await turn();
  expect(idsOf('quiet')).toHaveLength(1);
});

test('a call that has asked once is kept apart from then on', async () => {
  const { call, ask, finish, idsOf } = createConversation();
  const asking = call('asking', new FakeCaller());
  await ask('roots/list');
  finish('asking');
  await asking;
  void call('a', new FakeCaller());
  void call('asking', new FakeCaller());
  await turn();
  expect(idsOf('asking')).toHaveLength(1);
});

test('a question outside a call without an answer is refused', async () => {
  const { ask } = createConversation({}, () => Promise.reject(new Error('The host has gone.')));
  const { error } = (await ask('roots/list')) ?? {};
  expect(error).toMatchObject({ code: -32603, message: 'Error: The host has gone.' });
});

test('an ambiguous question is refused, and those calls run in turn from then on', async () => {
  const { call, ask, finish, idsOf } = createConversation();
  for (const name of ['a', 'b']) {
    const answered = call(name, new FakeCaller());
    finish(name);
    await answered;
  }
  const [one, other] = [new FakeCaller(), new FakeCaller()];
  const calls = [call('a', one), call('b', other)];
  expect(await ask('elicitation/create')).toMatchObject({
    error: { message: expect.stringContaining('several sessions') as string },
  });
  expect([...one.asked, ...other.asked]).toEqual([]);
  finish('a');
  finish('b');
  await Promise.all(calls);
  // Also after they were done without a question.
  for (let time = 0; time < 2; time++) {
    const [first, second] = [call('a', one), call('b', other)];
    await turn();
    expect(idsOf('b')).toHaveLength(2 + time);
    finish('a');
    await first;
    await turn();
    finish('b');
    await second;
  }
});

test('a tool that never asked before may still ask: no other host gets its question', async () => {
  const { call, ask, finish } = createConversation();
  const [one, other] = [new FakeCaller(), new FakeCaller()];
  const first = call('quiet', one);
  finish('quiet');
  await first;
  void call('a', other);
  void call('quiet', one);
  expect(await ask('elicitation/create')).toMatchObject({
    error: { message: expect.stringContaining('several sessions') as string },
  });
  expect([...one.asked, ...other.asked]).toEqual([]);
});

test('an abandoned call may still ask: no other host gets its question', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { call, ask, finish } = createConversation();
  const [gone, other] = [new FakeCaller(), new FakeCaller()];
  const cancellation = new Cancellation();
  const abandoned = call('a', gone, { cancellation });
  cancellation.cancel(new Error('The host has gone.'));
  await expect(abandoned).rejects.toThrow('gone');
  void call('b', other);
  expect(await ask('elicitation/create')).toMatchObject({ error: {} });
  expect([...gone.asked, ...other.asked]).toEqual([]);
  finish('b');
  // As long as any request may take; after that the server has given it up, too.
  await vi.advanceTimersByTimeAsync(LIMIT_MS + 1);
  void call('b', other);
  await ask('elicitation/create');
  expect(other.asked).toHaveLength(1);
});

test('after abandoning a call that has asked, the next one can be asked at once', async () => {
  const { call, ask } = createConversation();
  // Over HTTP every request of a modern host is a party of its own.
  const request = (more = {}) => {
    const caller = new FakeCaller({ era: 'modern' });
    const answered = call('a', caller, more);
    return { caller, answered };
  };
  const cancellation = new Cancellation();
  const first = request({ cancellation });
  first.caller.reply = () => new Promise(() => {});
  await ask('elicitation/create');
  cancellation.cancel(new Error('never mind'));
  await expect(first.answered).rejects.toThrow('never mind');
  const second = request();
  await ask('elicitation/create');
  expect(second.caller.asked).toHaveLength(1);
});

test('a modern host that has abandoned a call can soon be asked again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { call, ask } = createConversation();
  const cancellation = new Cancellation();
  const abandoned = call('a', new FakeCaller({ era: 'modern' }), { cancellation });
  cancellation.cancel(new Error('never mind'));
  await expect(abandoned).rejects.toThrow('never mind');
  const next = new FakeCaller({ era: 'modern' });
  void call('b', next);
  expect(await ask('elicitation/create')).toMatchObject({ error: {} });
  await vi.advanceTimersByTimeAsync(LIMIT_MS / 10);
  await ask('elicitation/create');
  expect(next.asked).toHaveLength(1);
});

test('an abandoned call does not count as quiet', async () => {
  const { call, idsOf } = createConversation();
  const cancellation = new Cancellation();
  const abandoned = call('a', new FakeCaller(), { cancellation });
  cancellation.cancel(new Error('never mind'));
  await expect(abandoned).rejects.toThrow('never mind');
  void call('b', new FakeCaller());
  void call('a', new FakeCaller());
  await turn();
  expect(idsOf('a')).toHaveLength(1);
});

test('a call does not wait long behind an unanswered question', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { call, ask, idsOf } = createConversation();
  const one = new FakeCaller();
  one.reply = () => new Promise(() => {});
  void call('a', one);
  await ask('elicitation/create');
  const waiting = call('b', new FakeCaller());
  await vi.advanceTimersByTimeAsync(LIMIT_MS / 2);
  await expect(waiting).rejects.toMatchObject({
    code: 'CHILD_BUSY',
    text:
      'Server "box" is waiting for a user to answer a question from another call, ' +
      'so this call was not sent. Try again later.',
  });
  expect(idsOf('b')).toEqual([]);
});

test('behind a slow call, another waits up to a call’s limit', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { call, finish, idsOf } = createConversation();
  const [slow, busy] = [call('a', new FakeCaller()), call('b', new FakeCaller())];
  await vi.advanceTimersByTimeAsync(LIMIT_MS / 2);
  expect(idsOf('b')).toEqual([]);
  finish('a');
  await slow;
  await vi.advanceTimersByTimeAsync(1);
  expect(idsOf('b')).toHaveLength(1);

  const late = call('c', new FakeCaller(), { timeoutMs: LIMIT_MS / 4 });
  await vi.advanceTimersByTimeAsync(LIMIT_MS / 3);
  await expect(late).rejects.toMatchObject({ code: 'CHILD_BUSY' });
  finish('b');
  await busy;
  expect(idsOf('c')).toEqual([]);
});

test('a call cancelled while waiting for its turn is dropped', async () => {
  const { call, finish, idsOf } = createConversation();
  const cancellation = new Cancellation();
  const first = call('a', new FakeCaller());
  const second = call('b', new FakeCaller(), { cancellation });
  await turn();
  cancellation.cancel(new Error('never mind'));
  await expect(second).rejects.toThrow('never mind');
  finish('a');
  await first;
  await turn();
  expect(idsOf('b')).toEqual([]);
});

test('log messages go to the only host being served, from its level up', async () => {
  const { call, receive } = createConversation();
  const caller = new FakeCaller({ logLevel: 'warning' });
  const log = (level: string) =>
    receive({ method: 'notifications/message', params: { level, data: 'x' } });
  log('error');
  void call('a', caller);
  log('info');
  log('error');
  expect(caller.logged).toEqual(['{"level":"error","data":"x"}']);
});

test('log messages while two hosts are served are dropped', async () => {
  const { call, receive, finish } = createConversation();
  const quiet = call('quiet', new FakeCaller());
  finish('quiet');
  await quiet;
  const [one, other] = [new FakeCaller(), new FakeCaller()];
  void call('a', one);
  void call('quiet', other);
  receive({ method: 'notifications/message', params: { level: 'error', data: 'x' } });
  expect([...one.logged, ...other.logged]).toEqual([]);
});

test('the host that was sent to a page is notified once it was visited, even after its call, once', async () => {
  const { call, ask, finish, receive } = createConversation();
  const caller = new FakeCaller({ capabilities: { elicitation: { url: {} } } });
  const answered = call('a', caller);
  await ask('elicitation/create', { mode: 'url', url: 'https://a', elicitationId: 'page' });
  finish('a');
  await answered;
  const complete = (elicitationId: unknown) =>
    receive({ method: 'notifications/elicitation/complete', params: { elicitationId } });
  complete('another');
  complete(7);
  expect(caller.visited).toEqual([]);
  complete('page');
  complete('page');
  expect(caller.visited).toEqual(['{"elicitationId":"page"}']);
});

test('other notifications are left to others', () => {
  const { conversation } = createConversation();
  expect(conversation.receive('notifications/tools/list_changed', Verbatim.of({}))).toBe(false);
  expect(conversation.receive('notifications/message', Verbatim.of({}))).toBe(true);
});

test('only new resources are subscribed, and only removed ones unsubscribed', async () => {
  const { conversation, sent, receive } = createConversation();
  const told = () => {
    const messages = sent.splice(0);
    for (const { id } of messages) receive({ id, result: {} });
    return messages.map(({ method, params }) => `${method?.slice(10)} ${String(params?.['uri'])}`);
  };
  const first = conversation.watch(new Set(['a:1', 'a:2']));
  expect(told()).toEqual(['subscribe a:1', 'subscribe a:2']);
  await first;
  const second = conversation.watch(new Set(['a:2', 'a:3']));
  expect(told()).toEqual(['subscribe a:3', 'unsubscribe a:1']);
  await second;
});

test('a refused resource is subscribed again the next time, and never unsubscribed', async () => {
  const { conversation, sent, receive } = createConversation();
  const watched = conversation.watch(new Set(['a:1']));
  receive({ id: sent[0]?.id, error: { code: -32_602, message: 'no' } });
  await expect(watched).rejects.toThrow('no');
  await conversation.watch(new Set());
  expect(sent).toHaveLength(1);
  void conversation.watch(new Set(['a:1'])).catch(() => {});
  expect(sent).toHaveLength(2);
});

test('only a server with logging gets a level', () => {
  const quiet = createConversation();
  quiet.conversation.setLogLevel('debug');
  expect(quiet.sent).toEqual([]);
  const { conversation, sent } = createConversation({ logging: {} });
  conversation.setLogLevel(undefined);
  expect(sent).toEqual([]);
  conversation.setLogLevel('debug');
  expect(sent).toMatchObject([{ method: 'logging/setLevel', params: { level: 'debug' } }]);
});

test('a server that has never asked delays other hosts only briefly, until it asks', async () => {
  vi.useFakeTimers();
  const onAsked = vi.fn();
  const { call, idsOf, ask } = createConversation({}, undefined, false, {
    expectsQuestions: false,
    onAsked,
  });
  const [ann, bob] = [new FakeCaller(), new FakeCaller()];
  void call('slow', ann);
  void call('other', bob);
  await vi.advanceTimersByTimeAsync(500);
  expect(idsOf('other')).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(600);
  expect(idsOf('other')).toHaveLength(1);
  // Now nobody knows whom it asks.
  const asked = ask('elicitation/create', { message: 'Who?' });
  await vi.advanceTimersByTimeAsync(1);
  expect((await asked)?.error?.message).toContain('cannot tell which one');
  expect(onAsked).toHaveBeenCalledTimes(1);

  void call('third', bob);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(idsOf('third')).toHaveLength(0);
});
