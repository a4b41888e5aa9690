// What every provider with an address promises an assistant: the same answers and the same failures,
// whichever API it speaks. The official SDK is the one that asks.
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type {
  CompletionRequest,
  Message,
  ModelFailure,
  Provider,
} from '../../../src/assistant/provider.ts';
import { createAnthropic } from '../../../src/assistant/providers/anthropic.ts';
import { createOpenAi } from '../../../src/assistant/providers/openai.ts';
import { Cancellation } from '../../../src/base/cancellation.ts';
import {
  KEY,
  type ModelServer,
  type Script,
  startModelServer,
  USAGE,
} from '../../support/model-server-chat.ts';
import { eventually } from '../../support/processes.ts';

interface Api {
  readonly name: string;
  readonly create: (server: Pick<ModelServer, 'url'>) => Promise<Provider> | Provider;
}

const OPTIONS = { apiKey: KEY, model: 'some-model', maxTokens: 1_000 };

const APIS: readonly Api[] = [
  { name: 'anthropic', create: ({ url }) => createAnthropic({ ...OPTIONS, baseUrl: url }) },
  { name: 'openai', create: ({ url }) => createOpenAi({ ...OPTIONS, baseUrl: `${url}/v1/` }) },
];

const TOOL = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' } };

function request(some: Partial<CompletionRequest> = {}): CompletionRequest {
  return {
    system: 'Be brief.',
    messages: [{ role: 'user', text: 'Hello' }],
    tools: [TOOL],
    cancellation: new Cancellation(),
    ...some,
  };
}

describe.each(APIS)('$name', ({ create }) => {
  const open = async (script: Script) => {
    const server = await startModelServer(script);
    return { server, provider: await create(server) };
  };

  test('returns text', async () => {
    const { server, provider } = await open(() => ({ text: 'Hi.' }));
    expect(await provider.complete(request())).toMatchObject({
      text: 'Hi.',
      toolCalls: [],
      stop: 'done',
      usage: USAGE,
    });
    expect(server.requests).toEqual([
      expect.objectContaining({
        authorization: `Bearer ${KEY}`,
        model: 'some-model',
        system: 'Be brief.',
        said: ['Hello'],
        tools: [
          expect.objectContaining({
            name: 'look',
            schema: expect.objectContaining({ type: 'object' }) as unknown,
          }),
        ],
      }),
    ]);
  });

  test('uses tools, and gets their results', async () => {
    const { server, provider } = await open(({ results }) =>
      results.length > 0
        ? { text: 'Done.' }
        : {
            text: 'I look.',
            calls: [
              { name: 'look', args: { at: 'this' } },
              { name: 'look', args: {} },
            ],
          },
    );
    const asked: Message = { role: 'user', text: 'Hello' };
    const answer = await provider.complete(request({ messages: [asked] }));
    expect(answer).toMatchObject({
      text: 'I look.',
      stop: 'tools',
      toolCalls: [
        { id: 'use_0_0', name: 'look' },
        { id: 'use_0_1', name: 'look' },
      ],
    });
    expect(answer.toolCalls.map(({ args }) => args?.value)).toEqual([{ at: 'this' }, {}]);
    const outcomes = [
      { id: 'use_0_0', text: 'this it is', isError: false },
      { id: 'use_0_1', text: 'at what?', isError: true },
    ];
    const messages: Message[] = [asked, { role: 'assistant', answer }, { role: 'tools', outcomes }];
    const last = await provider.complete(request({ messages }));
    expect(last).toMatchObject({ text: 'Done.', stop: 'done' });
    expect(server.requests[1]).toMatchObject({ said: ['Hello', 'I look.'], results: outcomes });
  });

  test.each([
    ['limit', { text: 'Once', stop: 'limit' }],
    ['refused', { text: 'No.', stop: 'refused' }],
  ] as const)('says when it was stopped: %s', async (stop, reply) => {
    const { provider } = await open(() => reply);
    expect(await provider.complete(request())).toMatchObject({ text: reply.text, stop });
  });

  test('a refusal has its status, its reason without the key, and the time to wait', async () => {
    const headers = { 'retry-after': '2' };
    const message = `Not with ${KEY}`;
    const { server, provider } = await open(() => ({ status: 429, message, headers }));
    await expect(provider.complete(request())).rejects.toMatchObject({
      name: 'ModelFailure',
      status: 429,
      retryAfterMs: 2_000,
      message: 'Not with ***',
    });
    expect(server.requests).toHaveLength(1);
  });

  test.each(['no JSON', '{"a": 1}', '[]', 'null', ''])('an unreadable answer: %s', async (body) => {
    const { provider } = await open(() => ({ body }));
    await expect(provider.complete(request())).rejects.toMatchObject({
      name: 'ModelFailure',
      isUnreadable: true,
    });
  });

  test.each([301, 302, 307, 308])('does not follow a redirect: %i', async (status) => {
    const other = await startModelServer(() => ({ text: 'Thank you.' }));
    const headers = { location: `${other.url}/v1/elsewhere` };
    const { provider } = await open(() => ({ status, headers }));
    await expect(provider.complete(request())).rejects.toMatchObject({
      name: 'ModelFailure',
      status,
      message: `it redirects to ${new URL(other.url).host}, which is not followed`,
    });
    expect(other.requests).toEqual([]);
  });

  test('an answer is read up to a limit', async () => {
    const body = JSON.stringify({ content: 'x'.repeat(33 << 20) });
    const { provider } = await open(() => ({ body }));
    await expect(provider.complete(request())).rejects.toMatchObject({
      name: 'ModelFailure',
      message: expect.stringContaining('The body is too large.') as unknown,
    });
  });

  test('an answer that breaks off is a failure without a status', async () => {
    const { server, provider } = await open(() => 'broken');
    await expect(provider.complete(request())).rejects.toMatchObject({
      name: 'ModelFailure',
      status: undefined,
      message: expect.stringContaining('cut off') as unknown,
    });
    expect(server.requests).toHaveLength(1);
  });

  test.each(['text/html', 'text/event-stream', ''])(
    'reads an answer regardless of its content type: %s',
    async (type) => {
      const first = await open(() => ({ text: 'Hi.' }));
      const whole = JSON.stringify((await first.provider.complete(request())).raw);
      const body = whole.startsWith('[')
        ? `{"content":${whole},"stop_reason":"end_turn"}`
        : `{"choices":[{"message":${whole}}]}`;
      const headers = { 'content-type': type };
      const { provider } = await open(() => ({ body, headers }));
      expect(await provider.complete(request())).toMatchObject({ text: 'Hi.' });
      const page = await open(() => ({ body: '<html>Sign in</html>', headers }));
      await expect(page.provider.complete(request())).rejects.toMatchObject({
        isUnreadable: true,
        message: 'it is not JSON',
      });
    },
  );

  test('an error with a success status keeps its reason, without the key', async () => {
    const error = { type: 'overloaded_error', message: `Overloaded for ${KEY}` };
    const { provider } = await open(() => ({ body: JSON.stringify({ type: 'error', error }) }));
    await expect(provider.complete(request())).rejects.toMatchObject({
      isUnreadable: true,
      message: 'Overloaded for ***',
    });
  });

  test('invalid token counts are ignored', async () => {
    const first = await open(() => ({ text: 'Hi.' }));
    const whole = JSON.stringify((await first.provider.complete(request())).raw);
    const usage =
      '"usage":{"input_tokens":"7","output_tokens":-5,"prompt_tokens":1e999,"completion_tokens":-5}';
    const body = whole.startsWith('[')
      ? `{"content":${whole},${usage}}`
      : `{"choices":[{"message":${whole}}],${usage}}`;
    const { provider } = await open(() => ({ body }));
    expect((await provider.complete(request())).usage).toEqual({ inputTokens: 0, outputTokens: 0 });
  });

  test('never sends half a character', async () => {
    const { server, provider } = await open(() => ({ text: 'Hi.' }));
    await provider.complete(
      request({
        system: 'a\ud83d',
        messages: [{ role: 'user', text: '\ude00b' }],
        tools: [{ ...TOOL, description: 'c\ud83d' }],
      }),
    );
    expect(server.requests[0]).toMatchObject({
      system: 'a\ufffd',
      said: ['\ufffdb'],
      tools: [{ description: 'c\ufffd' }],
    });
  });

  test('a text-only answer can be sent back', async () => {
    const { server, provider } = await open(() => ({ text: 'Hi.' }));
    const messages: Message[] = [
      { role: 'user', text: 'one' },
      { role: 'said', text: 'two' },
      { role: 'user', text: 'three' },
    ];
    await provider.complete(request({ messages }));
    expect(server.requests[0]?.said).toEqual(['one', 'two', 'three']);
  });

  test.each(['geheim', 'ge heim', 'g@heim', 'geh%65im-und-lang'])(
    'a password in its URL appears in no error: %s',
    async (password) => {
      const provider = await create({ url: `http://ada:${password}@127.0.0.1:9` });
      const failure: unknown = await provider.complete(request()).catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: 'ModelFailure' });
      expect(String(failure)).not.toMatch(/heim|ada|65im/);
    },
  );

  test('the time to wait may be a date', async () => {
    const hour = 3_600_000;
    const { provider } = await open((_request, index) => {
      const date = new Date(index === 0 ? Date.now() + hour : 0).toUTCString();
      return { status: 429, headers: { 'retry-after': date } };
    });
    const waitOf = async (): Promise<number | undefined> => {
      const failure: unknown = await provider.complete(request()).catch((error: unknown) => error);
      return (failure as ModelFailure).retryAfterMs;
    };
    const wait = await waitOf();
    expect(wait).toBeGreaterThan(hour / 2);
    expect(wait).toBeLessThanOrEqual(hour);
    expect(await waitOf()).toBe(0);
  });

  test.each(['Infinity', 'soon', '1e999'])('an invalid time to wait: %s', async (text) => {
    const headers = { 'retry-after': text, 'retry-after-ms': text };
    const { provider } = await open(() => ({ status: 429, headers }));
    await expect(provider.complete(request())).rejects.toMatchObject({ retryAfterMs: undefined });
  });

  test('an unreachable provider is a failure without a status', async () => {
    const provider = await create({ url: 'http://127.0.0.1:9' });
    await expect(provider.complete(request())).rejects.toMatchObject({
      name: 'ModelFailure',
      status: undefined,
      isUnreadable: false,
    });
  });

  test('does not use fetch, which gives up after five minutes', async () => {
    const usual = globalThis.fetch;
    globalThis.fetch = () => Promise.reject(new Error('fetch was used'));
    onTestFinished(() => {
      globalThis.fetch = usual;
    });
    const { provider } = await open(() => ({ text: 'Hi.' }));
    expect(await provider.complete(request())).toMatchObject({ text: 'Hi.' });
  });

  test('a cancelled request is aborted, and fails with the reason', async () => {
    const { server, provider } = await open(() => 'never');
    const cancellation = new Cancellation();
    const answer = provider.complete(request({ cancellation }));
    answer.catch(() => {});
    expect(await eventually(() => server.requests.length === 1)).toBe(true);
    const reason = new Error('never mind');
    cancellation.cancel(reason);
    await expect(answer).rejects.toBe(reason);
    expect(await eventually(() => server.requests[0]?.isAborted === true)).toBe(true);
  });

  test('a request cancelled beforehand is not sent', async () => {
    const { server, provider } = await open(() => ({ text: 'Hi.' }));
    const cancellation = new Cancellation();
    cancellation.cancel(new Error('never mind'));
    await expect(provider.complete(request({ cancellation }))).rejects.toThrow('never mind');
    expect(server.requests).toEqual([]);
  });
});

test.each([
  ['', '{}'],
  [null, '{}'],
  ['{"a":1}', '{"a":1}'],
  ['{"a":12345678901234567890,\r"b":1.0}', '{"a":12345678901234567890, "b":1.0}'],
  [{ a: 1 }, '{"a":1}'],
  ['{"a":', undefined],
  ['[1]', undefined],
])('arguments written as %j in chat completions', async (written, args) => {
  const use = { id: 'x', type: 'function', function: { name: 'look', arguments: written } };
  const message = { role: 'assistant', content: null, tool_calls: [use] };
  const body = JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] });
  const server = await startModelServer(() => ({ body }));
  const provider = createOpenAi({ ...OPTIONS, baseUrl: server.url });
  const answer = await provider.complete(request());
  expect(answer.toolCalls).toMatchObject([{ id: 'x', name: 'look' }]);
  expect(answer.toolCalls[0]?.args?.text).toBe(args);
});

describe('moves unsupported parts of a tool into its description', () => {
  const alternatives = { anyOf: [{ required: ['a'] }, { required: ['b'] }] };
  const send = async (tool: object) => {
    const server = await startModelServer(() => ({ text: 'Hi.' }));
    const tools = [{ ...TOOL, ...tool }];
    const anthropic = await createAnthropic({ ...OPTIONS, baseUrl: server.url });
    await anthropic.complete(request({ tools }));
    await createOpenAi({ ...OPTIONS, baseUrl: server.url }).complete(request({ tools }));
    return server.requests.map(({ tools: [sent], system }) => ({
      description: sent?.description,
      schema: sent?.schema,
      system,
    }));
  };

  test('alternatives at the top of a schema', async () => {
    const inputSchema = { type: 'object', properties: { a: {}, b: {} }, ...alternatives };
    for (const { schema, description } of await send({ inputSchema })) {
      expect(schema).toEqual({ type: 'object', properties: { a: {}, b: {} } });
      expect(description).toBe(
        `Looks.\n\nThe arguments must also match this JSON Schema: ${JSON.stringify(alternatives)}`,
      );
    }
  });

  test.each([{ enum: [{}] }, { const: {} }, { not: {} }, { oneOf: [] }, { allOf: [] }])(
    'and anything else that is not a plain object: %j',
    async (more) => {
      for (const { schema, description } of await send({ inputSchema: more })) {
        expect(schema).toMatchObject({ type: 'object' });
        expect(Object.keys(schema as object)).not.toContain(Object.keys(more)[0]);
        expect(description).toContain(JSON.stringify(more));
      }
    },
  );

  test('argument names that Anthropic does not accept', async () => {
    const properties = { id: { type: 'string' }, 'filter[id]': { type: 'string' } };
    const inputSchema = { type: 'object', properties, required: ['id', 'filter[id]'] };
    const [anthropic, openai] = await send({ inputSchema });
    expect(anthropic?.schema).toEqual({
      type: 'object',
      properties: { id: { type: 'string' } },
      required: ['id'],
    });
    expect(anthropic?.description).toContain(
      '{"properties":{"filter[id]":{"type":"string"}},"required":["filter[id]"]}',
    );
    expect(openai).toMatchObject({ schema: inputSchema, description: 'Looks.' });
  });

  test('a description too long for chat completions', async () => {
    const description = `Looks. ${'It looks far. '.repeat(200)}`;
    const [anthropic, openai] = await send({ description });
    expect(anthropic).toMatchObject({ description, system: 'Be brief.' });
    expect(openai?.description).toBe(description.slice(0, 1_024));
    expect(openai?.system).toBe(`Be brief.\n\nAbout the tool look:\n${description}`);
  });

  test('but nothing that is supported', async () => {
    for (const { description, schema, system } of await send({})) {
      expect({ description, system }).toEqual({ description: 'Looks.', system: 'Be brief.' });
      expect(schema).toMatchObject({ type: 'object' });
    }
  });
});

describe('chat completions variants', () => {
  const chat = async (message: object) => {
    const body = JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] });
    const server = await startModelServer((_request, index) =>
      index === 0 ? { body } : { text: 'Done.' },
    );
    const provider = createOpenAi({ ...OPTIONS, baseUrl: server.url });
    return { server, provider, answer: await provider.complete(request()) };
  };
  const look = (args: unknown) => ({
    type: 'function',
    function: { name: 'look', arguments: args },
  });

  test('calls without an id get one, and their results match', async () => {
    const calls = [look('{}'), { ...look('{}'), id: '' }, { ...look('{}'), id: 'a' }];
    const { server, provider, answer } = await chat({
      content: null,
      tool_calls: [...calls, { ...look('{}'), id: 'a' }],
    });
    const ids = answer.toolCalls.map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
    expect(ids).toContain('a');
    const outcomes = ids.map((id) => ({ id, text: 'seen', isError: false }));
    const messages: Message[] = [
      { role: 'user', text: 'Hello' },
      { role: 'assistant', answer },
      { role: 'tools', outcomes },
    ];
    await provider.complete(request({ messages }));
    expect(server.requests[1]?.results).toEqual(outcomes);
    expect(answer.raw).toMatchObject({ tool_calls: ids.map((id) => ({ id })) });
  });

  test('a model’s reasoning is sent back, and is not part of its answer', async () => {
    const thoughts = { reasoning_content: 'They want me to look.' };
    const { server, provider, answer } = await chat({
      content: null,
      tool_calls: [{ ...look('{}'), id: 'a' }],
      ...thoughts,
    });
    expect(answer.text).toBe('');
    const outcomes = [{ id: 'a', text: 'seen', isError: false }];
    const messages: Message[] = [
      { role: 'assistant', answer },
      { role: 'tools', outcomes },
    ];
    await provider.complete(request({ messages }));
    expect(server.requests[1]?.body['messages']).toMatchObject([{}, thoughts, {}]);
  });

  test.each([
    ['<think>\nHm.\n</think>\n\nYes.', 'Yes.'],
    ['<think></think>Yes.', 'Yes.'],
    ['It wrote <think>Hm.</think>', 'It wrote <think>Hm.</think>'],
    ['<think>without an end', '<think>without an end'],
  ])('reasoning before an answer is removed: %j', async (content, text) => {
    const { answer } = await chat({ content });
    expect(answer.text).toBe(text);
  });

  test('an answer in parts is joined', async () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'image' },
      { type: 'text', text: 'two' },
    ];
    const { answer } = await chat({ content });
    expect(answer).toMatchObject({ text: 'one\ntwo', raw: { content: 'one\ntwo' } });
  });

  test('an unreadable call is not sent back, but the rest of the answer is', async () => {
    const good = { ...look('{"a":'), id: 'g', extra_content: { signature: 's' } };
    const { answer } = await chat({ content: 'x', tool_calls: [null, { id: 'b' }, good] });
    expect(answer.toolCalls).toEqual([{ id: 'g', name: 'look', args: undefined }]);
    expect(answer.raw).toEqual({
      role: 'assistant',
      content: 'x',
      tool_calls: [{ ...good, function: { name: 'look', arguments: '{}' } }],
    });
    const { answer: none } = await chat({ content: 'x', tool_calls: [{ id: 'b' }] });
    expect(none).toMatchObject({ stop: 'done', toolCalls: [] });
    expect(none.raw).toEqual({ role: 'assistant', content: 'x' });
  });
});

test('invalid blocks of the Messages API are ignored', async () => {
  const good = { type: 'tool_use', id: 'a', name: 'look', input: null };
  const content = [
    null,
    'x',
    { type: 'text' },
    { type: 'text', text: '' },
    { type: 'tool_use' },
    good,
  ];
  const body = JSON.stringify({ content, stop_reason: 'tool_use' });
  const server = await startModelServer(() => ({ body }));
  const provider = await createAnthropic({ ...OPTIONS, baseUrl: server.url });
  expect(await provider.complete(request())).toMatchObject({
    text: '',
    toolCalls: [{ id: 'a', name: 'look', args: undefined }],
    raw: [{ ...good, input: {} }],
  });
});

test('tool uses with the same id in the Messages API are kept apart', async () => {
  const use = { type: 'tool_use', id: 'a', name: 'look', input: {} };
  const body = JSON.stringify({ content: [use, use], stop_reason: 'tool_use' });
  const server = await startModelServer(() => ({ body }));
  const provider = await createAnthropic({ ...OPTIONS, baseUrl: server.url });
  const { toolCalls, raw } = await provider.complete(request());
  const ids = toolCalls.map(({ id }) => id);
  expect(new Set(ids).size).toBe(2);
  expect(raw).toMatchObject(ids.map((id) => ({ id })));
});

test('caches the start of the next round at Anthropic', async () => {
  const use = { calls: [{ name: 'look', args: {} }] };
  const server = await startModelServer(() => use);
  const provider = await createAnthropic({ ...OPTIONS, baseUrl: server.url });
  const question = { role: 'user', text: 'Hello' } as const;
  const answer = await provider.complete(request({ messages: [question] }));
  const outcomes = answer.toolCalls.map(({ id }) => ({ id, text: 'seen', isError: false }));
  const messages: Message[] = [
    question,
    { role: 'assistant', answer },
    { role: 'tools', outcomes },
  ];
  await provider.complete(request({ messages }));
  const mark = { cache_control: { type: 'ephemeral' } };
  const [first, second] = server.requests.map(({ body }) => body);
  expect(first?.['messages']).toMatchObject([{ content: [{ text: 'Hello', ...mark }] }]);
  expect(second?.['messages']).toMatchObject([{}, {}, { content: [{ content: 'seen', ...mark }] }]);
  // Four are taken; one is before the messages.
  expect(JSON.stringify(second).split('cache_control')).toHaveLength(3);
});

test.each([
  [true, undefined],
  [false, 'for the gateway'],
])('headers for Anthropic’s default URL are not sent elsewhere: %s', async (isElsewhere, sent) => {
  vi.stubEnv('ANTHROPIC_CUSTOM_HEADERS', 'X-Other: of another session');
  onTestFinished(() => void vi.unstubAllEnvs());
  const server = await startModelServer(() => ({ text: 'Hi.' }));
  const env = { ANTHROPIC_CUSTOM_HEADERS: 'X-Gateway: for the gateway\nnonsense' };
  const provider = await createAnthropic({ ...OPTIONS, baseUrl: server.url, isElsewhere, env });
  await provider.complete(request());
  const { headers } = server.requests[0] ?? {};
  expect(headers?.['x-gateway']).toBe(sent);
  expect(headers?.['x-other']).toBeUndefined();
});

test('a model that only knows the limit’s new name is asked with that', async () => {
  const error = { message: 'Use the other.', param: 'max_tokens', code: 'unsupported_parameter' };
  const server = await startModelServer(({ body }) =>
    'max_tokens' in body ? { body: JSON.stringify({ error }), code: 400 } : { text: 'Hi.' },
  );
  const provider = createOpenAi({ ...OPTIONS, baseUrl: server.url });
  expect(await provider.complete(request())).toMatchObject({ text: 'Hi.' });
  await provider.complete(request());
  const limits = server.requests.map(({ body }) => [
    body['max_tokens'],
    body['max_completion_tokens'],
  ]);
  expect(limits).toEqual([
    [1_000, undefined],
    [undefined, 1_000],
    [undefined, 1_000],
  ]);
});

test.each([
  { param: 'max_tokens', code: 'integer_above_max_value' },
  { param: 'tools', code: 'unsupported_parameter' },
])('any other refusal is not retried with it: %j', async (facts) => {
  const body = JSON.stringify({ error: { message: 'No.', ...facts } });
  const server = await startModelServer(() => ({ body, code: 400 }));
  const provider = createOpenAi({ ...OPTIONS, baseUrl: server.url });
  await expect(provider.complete(request())).rejects.toMatchObject({ status: 400, message: 'No.' });
  expect(server.requests).toHaveLength(1);
});
