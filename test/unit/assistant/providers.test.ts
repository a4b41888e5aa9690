// What every provider with an address promises an assistant: the same answers and the same failures,
// whichever API it speaks. The official SDK is the one that asks.
import { describe, expect, test } from 'vitest';
import type { CompletionRequest, Message, Provider } from '../../../src/assistant/provider.ts';
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

  test('says something', async () => {
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

  test('uses tools, and is told what came of them', async () => {
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
        { id: 'use_0_0', name: 'look', args: { at: 'this' } },
        { id: 'use_0_1', name: 'look', args: {} },
      ],
    });
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

  test.each(['no JSON', '{"a": 1}', '[]', 'null', ''])(
    'an answer that is none: %s',
    async (body) => {
      const { provider } = await open(() => ({ body }));
      await expect(provider.complete(request())).rejects.toMatchObject({
        name: 'ModelFailure',
        isUnreadable: true,
      });
    },
  );

  test('nobody there is a failure without a status', async () => {
    const provider = await create({ url: 'http://127.0.0.1:9' });
    await expect(provider.complete(request())).rejects.toMatchObject({
      name: 'ModelFailure',
      status: undefined,
      isUnreadable: false,
    });
  });

  test('a request that is called off is aborted, and fails with the reason', async () => {
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

  test('what was called off before is not sent', async () => {
    const { server, provider } = await open(() => ({ text: 'Hi.' }));
    const cancellation = new Cancellation();
    cancellation.cancel(new Error('never mind'));
    await expect(provider.complete(request({ cancellation }))).rejects.toThrow('never mind');
    expect(server.requests).toEqual([]);
  });
});

test.each([
  ['', {}],
  ['{"a":1}', { a: 1 }],
  [{ a: 1 }, { a: 1 }],
  ['{"a":', undefined],
  ['[1]', undefined],
])('arguments written as %j in chat completions', async (written, args) => {
  const use = { id: 'x', type: 'function', function: { name: 'look', arguments: written } };
  const message = { role: 'assistant', content: null, tool_calls: [use] };
  const body = JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] });
  const server = await startModelServer(() => ({ body }));
  const provider = createOpenAi({ ...OPTIONS, baseUrl: server.url });
  const answer = await provider.complete(request());
  expect(answer.toolCalls).toEqual([{ id: 'x', name: 'look', args }]);
});

test('what providers refuse in a schema is not sent to them', async () => {
  const inputSchema = { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] };
  const tools = [{ ...TOOL, inputSchema }];
  const server = await startModelServer(() => ({ text: 'Hi.' }));
  const anthropic = await createAnthropic({ ...OPTIONS, baseUrl: server.url });
  await anthropic.complete(request({ tools }));
  await createOpenAi({ ...OPTIONS, baseUrl: server.url }).complete(request({ tools }));
  expect(server.requests.map((sent) => sent.tools[0]?.schema)).toEqual([
    { type: 'object' },
    { ...inputSchema, properties: {} },
  ]);
});
