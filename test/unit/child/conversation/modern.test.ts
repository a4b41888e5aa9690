import { expect, test } from 'vitest';
import type { ChildRequest } from '../../../../src/child/conversation/conversation.ts';
import { ModernConversation } from '../../../../src/child/conversation/modern.ts';
import { projectRoots } from '../../../../src/mcp/roots.ts';
import { METHOD_NOT_FOUND, RpcError } from '../../../../src/rpc/message.ts';
import { Verbatim } from '../../../../src/rpc/verbatim.ts';
import { FakeCaller } from '../../../support/fake-caller.ts';
import { turn } from '../../../support/fake-child.ts';
import { createScriptedPeer } from '../../../support/scripted-peer.ts';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const CLIENT = 'io.modelcontextprotocol/clientInfo';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

function createConversation(capabilities: Record<string, unknown> = {}, isShared = false) {
  const scripted = createScriptedPeer();
  const roots = isShared ? projectRoots('/the project') : undefined;
  const conversation = new ModernConversation({ name: 'box', peer: scripted.peer, capabilities });
  const call = (more: Partial<ChildRequest> = {}) => {
    const text = '{"name":"a","arguments":{"n":12345678901234567890}}';
    const params = new Verbatim(text, JSON.parse(text));
    const request = { method: 'tools/call', params, timeoutMs: 60_000, roots, ...more };
    const answered = conversation.request(request);
    answered.catch(() => {});
    return answered;
  };
  /** The server answers the last call, and everything happens that comes of it. */
  const reply = async (result: object) => {
    scripted.answer('tools/call', result);
    await turn();
  };
  return { ...scripted, conversation, call, reply };
}

const wants = (inputRequests: object, requestState?: string) => ({
  resultType: 'input_required',
  inputRequests,
  ...(requestState !== undefined && { requestState }),
});

const FORM = { method: 'elicitation/create', params: { message: 'Who?' } };

test('our own requests identify us and declare no capabilities', () => {
  const { call, sent } = createConversation();
  void call();
  expect(sent[0]?.params?._meta).toEqual({
    [VERSION]: '2026-07-28',
    [CAPABILITIES]: {},
    [CLIENT]: expect.objectContaining({ name: 'switchboard' }) as object,
  });
});

test('a request for a caller carries its identity, capabilities and log level', () => {
  const { call, sent } = createConversation();
  const caller = new FakeCaller({
    capabilities: { sampling: { tools: {} }, tasks: {}, extensions: {} },
    logLevel: 'warning',
  });
  const meta = Verbatim.of({
    [VERSION]: 'other',
    [CAPABILITIES]: { roots: {} },
    [CLIENT]: { name: 'other' },
    [LOG_LEVEL]: 'debug',
    progressToken: 'of the host',
    traceparent: '00-1',
  });
  void call({ caller, meta });
  void call({ caller, meta, onProgress: () => {} });
  void call({ caller: new FakeCaller({ logLevel: undefined, info: undefined }), meta });
  const told = {
    [VERSION]: '2026-07-28',
    [CAPABILITIES]: { sampling: { tools: {} } },
    [CLIENT]: { name: 'some host', version: '7' },
    [LOG_LEVEL]: 'warning',
    traceparent: '00-1',
  };
  expect(sent[0]?.params?._meta).toEqual(told);
  expect(sent[1]?.params?._meta).toEqual({ ...told, progressToken: 2 });
  expect(sent[2]?.params?._meta).not.toHaveProperty(LOG_LEVEL);
  expect(sent[2]?.params?._meta).toMatchObject({ [CLIENT]: { name: 'switchboard' } });
});

test('requests for different callers each carry their own identity, in any order', () => {
  const { call, sent } = createConversation();
  const one = new FakeCaller({ info: Verbatim.of({ name: 'one' }) });
  const other = new FakeCaller({ info: Verbatim.of({ name: 'other' }), logLevel: 'error' });
  const talkative = new FakeCaller({ info: other.info, logLevel: 'debug' });
  for (const caller of [one, one, other, talkative, undefined, one]) void call({ caller });
  const heard = sent.map(({ params }) => params?._meta ?? {});
  expect(heard.map((meta) => (meta[CLIENT] as { name: string }).name)).toEqual([
    'one',
    'one',
    'other',
    'other',
    'switchboard',
    'one',
  ]);
  expect(heard.map((meta) => meta[LOG_LEVEL])).toEqual([
    'info',
    'info',
    'error',
    'debug',
    undefined,
    'info',
  ]);
  expect(heard[4]?.[CAPABILITIES]).toEqual({});
});

test('a handshake host is asked the server’s questions, and the request is repeated', async () => {
  const { call, reply, sent } = createConversation();
  const caller = new FakeCaller();
  caller.reply = async ({ method }) => new Verbatim(`{"m":"${method}","n":1.0}`, {});
  const answered = call({ caller });
  await reply(
    wants({ who: FORM, how: { method: 'sampling/createMessage', params: { a: 1 } } }, 'state 1'),
  );
  expect(caller.asked).toEqual([
    'elicitation/create {"message":"Server \\"box\\" asks: Who?"}',
    'sampling/createMessage {"systemPrompt":"This request comes from the MCP server \\"box\\".","a":1}',
  ]);
  expect(sent[1]?.params).toMatchObject({
    name: 'a',
    inputResponses: {
      who: { m: 'elicitation/create', n: 1 },
      how: { m: 'sampling/createMessage', n: 1 },
    },
    requestState: 'state 1',
  });
  await reply(wants({ where: { method: 'roots/list' } }));
  expect(sent[2]?.params?.['inputResponses']).toEqual({ where: { m: 'roots/list', n: 1 } });
  expect(sent[2]?.params).not.toHaveProperty('requestState');
  await reply({ resultType: 'complete', content: [] });
  expect((await answered).value).toEqual({ resultType: 'complete', content: [] });
});

test('a server that only wants a retry gets one', async () => {
  const { call, reply, sent } = createConversation();
  void call({ caller: new FakeCaller() });
  await reply({ resultType: 'input_required', requestState: 'later' });
  expect(sent[1]?.params).toMatchObject({ requestState: 'later' });
  expect(sent[1]?.params).not.toHaveProperty('inputResponses');
});

test('a modern host gets the questions itself, and its answers are forwarded', async () => {
  const { call, reply, sent } = createConversation();
  const caller = new FakeCaller({ era: 'modern' });
  const answered = call({ caller });
  await reply(wants({ who: FORM }, 's'));
  expect((await answered).value).toEqual(wants({ who: FORM }, 's'));
  expect(caller.asked).toEqual([]);
  void call({
    caller,
    inputs: { responses: Verbatim.of({ who: { action: 'decline' } }), state: '' },
  });
  expect(sent[1]?.params).toMatchObject({
    inputResponses: { who: { action: 'decline' } },
    requestState: '',
  });
});

test('an unfilled form is cancelled; without a model the request fails', async () => {
  const { call, reply, sent } = createConversation();
  const caller = new FakeCaller();
  caller.reply = () => Promise.reject(new RpcError(METHOD_NOT_FOUND, 'cannot be asked'));
  void call({ caller });
  await reply(wants({ who: FORM }));
  expect(sent[1]?.params).toMatchObject({ inputResponses: { who: { action: 'cancel' } } });
  const other = call({ caller });
  await reply(wants({ how: { method: 'sampling/createMessage', params: {} } }));
  await expect(other).rejects.toThrow('cannot be asked');
});

test('a server that keeps asking is given up', async () => {
  const { call, reply, sent } = createConversation();
  const caller = new FakeCaller();
  const answered = call({ caller });
  for (let round = 0; round < 10; round++) await reply(wants({ who: FORM }));
  await expect(answered).rejects.toThrow('asked for input 10 times');
  expect(sent).toHaveLength(10);
});

test.each([
  ['something unknown', { x: { method: 'secrets/list' } }],
  ['nothing that can be read', { x: 'Who?' }],
  ['a question of nothing', { x: null }],
])('a server that asks %s is refused', async (_what, questions) => {
  const { call, reply } = createConversation();
  const answered = call({ caller: new FakeCaller() });
  await reply(wants(questions));
  await expect(answered).rejects.toBeInstanceOf(RpcError);
});

test('questions about our own requests are not forwarded', async () => {
  const { call, reply } = createConversation();
  const answered = call();
  await reply(wants({ who: FORM }));
  await expect(answered).rejects.toThrow('this client cannot provide it');
});

test('it cannot send requests', () => {
  const { conversation, peer } = createConversation();
  expect(peer.requests.ids).toEqual([]);
  const request = { id: 1, method: 'ping', params: undefined, cancellation: undefined as never };
  expect(() => conversation.answer(request)).toThrow('Method not found: ping');
});

test('log messages go to the only host being served, from its level up', async () => {
  const { conversation, call, reply } = createConversation();
  const [one, other] = [new FakeCaller(), new FakeCaller()];
  const log = (level: string) =>
    conversation.receive('notifications/message', Verbatim.of({ level, data: 'x' }));
  expect(log('error')).toBe(true);
  const first = call({ caller: one });
  log('debug');
  log('error');
  void call({ caller: other });
  log('error');
  expect([one.logged.length, other.logged.length]).toEqual([1, 0]);
  await reply({ resultType: 'complete' }); // the last call, that of the other one
  log('error');
  expect([one.logged.length, other.logged.length]).toEqual([2, 0]);
  expect(conversation.receive('notifications/tools/list_changed', Verbatim.of({}))).toBe(false);
  await expect(Promise.race([first, Promise.resolve('open')])).resolves.toBe('open');
});

test('subscribes to the changes it declares, and to watched resources', async () => {
  const { conversation, sent, last } = createConversation({
    tools: { listChanged: true },
    prompts: {},
    resources: { listChanged: false, subscribe: true },
  });
  await conversation.watch(new Set());
  expect(last('subscriptions/listen').params).toMatchObject({
    notifications: { toolsListChanged: true },
    _meta: { [VERSION]: '2026-07-28' },
  });
  await conversation.watch(new Set(['a:1']));
  expect(last('subscriptions/listen').params).toMatchObject({
    notifications: { toolsListChanged: true, resourceSubscriptions: ['a:1'] },
  });
  const listens = sent.filter(({ method }) => method === 'subscriptions/listen');
  expect(listens).toHaveLength(2);
  expect(last('notifications/cancelled').params).toMatchObject({ requestId: listens[0]?.id });
});

test('a server without changes is not subscribed to', async () => {
  const { conversation, sent } = createConversation({ tools: {} });
  await conversation.watch(new Set());
  expect(sent).toEqual([]);
});

const ROOTS = { method: 'roots/list' };
const PROJECT = { roots: [{ uri: 'file:///the%20project', name: 'the project' }] };

test('a host of a shared server can always be asked for roots, which are the project', async () => {
  const { call, sent } = createConversation({}, true);
  void call({ caller: new FakeCaller({ capabilities: { sampling: {} } }) });
  expect(sent[0]?.params?._meta?.[CAPABILITIES]).toEqual({ roots: {}, sampling: {} });
});

test('a host without roots gets no made-up ones', async () => {
  const { call, sent } = createConversation();
  void call({ caller: new FakeCaller({ capabilities: { sampling: {} } }) });
  expect(sent[0]?.params?._meta?.[CAPABILITIES]).toEqual({ sampling: {} });
});

test('a shared server’s roots are the project for a handshake host', async () => {
  const { call, reply, sent } = createConversation({}, true);
  const caller = new FakeCaller();
  const answered = call({ caller });
  await reply(wants({ where: ROOTS, again: ROOTS }, 'state'));
  expect(sent[1]?.params).toMatchObject({
    inputResponses: { where: PROJECT, again: PROJECT },
    requestState: 'state',
  });
  await reply({ content: [] });
  expect((await answered).value).toEqual({ content: [] });
  expect(caller.asked).toEqual([]);
});

test('a modern host answers for its roots itself', async () => {
  const { call, reply, sent } = createConversation({}, true);
  const answered = call({ caller: new FakeCaller({ era: 'modern' }) });
  const asked = wants({ where: ROOTS, who: FORM });
  await reply(asked);
  expect((await answered).value).toEqual(asked);
  expect(sent).toHaveLength(1);
});
