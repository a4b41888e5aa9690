// What bounds the work for one query, and what is not done whatever the model says.
import { expect, test } from 'vitest';
import { Deadline } from '../../../src/assistant/deadline.ts';
import { runLoop } from '../../../src/assistant/loop.ts';
import { createAnthropic } from '../../../src/assistant/providers/anthropic.ts';
import { createOpenAi } from '../../../src/assistant/providers/openai.ts';
import { settleAssistant } from '../../../src/assistant/settings.ts';
import { askForCall, carryOut } from '../../../src/assistant/single.ts';
import { toProviderName } from '../../../src/assistant/tool-names.ts';
import type { Toolbox } from '../../../src/assistant/toolbox.ts';
import { QueryWork } from '../../../src/assistant/work.ts';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { SwitchboardError } from '../../../src/base/errors.ts';
import type { AssistantConfig } from '../../../src/config/config.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { type Script, startModelServer } from '../../support/model-server-chat.ts';

const OPTIONS = { apiKey: 'k', model: 'm', maxTokens: 1_000 };

async function createTask(script: Script, said: AssistantConfig = {}, api = 'anthropic') {
  const model = await startModelServer(script);
  const options = { ...OPTIONS, baseUrl: model.url };
  const provider = api === 'anthropic' ? await createAnthropic(options) : createOpenAi(options);
  const called: string[] = [];
  const toolbox: Toolbox = {
    tools: ['look', 'page.open'].map((name) => ({ name, inputSchema: { type: 'object' } })),
    instructions: undefined,
    call: async (subtool) => {
      called.push(subtool);
      return Verbatim.of({ content: [{ type: 'text', text: 'x'.repeat(100) }] });
    },
    refusal: (subtool) => new SwitchboardError('SUBTOOL_UNKNOWN', `No ${subtool}.`),
  };
  const deadline = new Deadline(60_000, new Cancellation(), () => new Error('late'));
  const work = new QueryWork({ deadline, onProgress: undefined });
  const settings = settleAssistant(said, {});
  const task = { provider, toolbox, settings, system: 's', history: [], query: 'q', work };
  return { task, model, called, work };
}

const looks = (count: number, name = 'look') => ({
  calls: Array.from({ length: count }, () => ({ name, args: {} })),
});

test.each(['anthropic', 'openai'])(
  'tool calls in a refused answer are not made: %s',
  async (api) => {
    const { task, called } = await createTask(() => ({ ...looks(1), stop: 'refused' }), {}, api);
    await expect(runLoop(task)).rejects.toThrow('refused to answer');
    expect(called).toEqual([]);
  },
);

test('calls are limited, and the model gets an error', async () => {
  const { task, model, called, work } = await createTask((_request, index) =>
    index < 2 ? looks(80) : { text: 'Done.' },
  );
  expect((await runLoop(task)).text).toBe('Done.');
  expect(called).toHaveLength(100);
  expect(work.calls).toHaveLength(100);
  const results = model.requests[2]?.results ?? [];
  expect(results).toHaveLength(80);
  expect(results[19]?.isError).toBe(false);
  expect(results[20]).toMatchObject({
    isError: true,
    text: 'Not called: the limit is 100 calls per query. Answer with what you have.',
  });
});

test('errors about unknown tools are short and limited in number', async () => {
  const { task, model } = await createTask((_request, index) =>
    index === 0 ? looks(150, 'n'.repeat(2_000)) : { text: 'Done.' },
  );
  await runLoop(task);
  const results = model.requests[1]?.results ?? [];
  expect(results[0]?.text.length).toBeLessThan(1_100);
  expect(results[149]?.text).toContain('Not called');
});

test('the results of one round are limited together', async () => {
  const script: Script = (_request, index) => (index === 0 ? looks(8) : { text: 'Done.' });
  const { task, model, called } = await createTask(script, { maxResultChars: 100 });
  await runLoop(task);
  expect(called).toHaveLength(8);
  const results = model.requests[1]?.results ?? [];
  expect(results.map(({ text }) => text.slice(0, 9))).toEqual([
    ...Array.from({ length: 4 }, () => 'xxxxxxxxx'),
    ...Array.from({ length: 4 }, () => '(The tool'),
  ]);
});

test('the error counts rounds, not calls', async () => {
  const { task } = await createTask(() => looks(3), { maxRounds: 2 });
  await expect(runLoop(task)).rejects.toThrow(
    "The assistant's model did not reach an answer within 2 rounds of tool calls.",
  );
});

test('a tool is also found by its own name', async () => {
  const { task, called } = await createTask((_request, index) =>
    index === 0 ? looks(1, 'page.open') : { text: 'Done.' },
  );
  await runLoop(task);
  expect(called).toEqual(['page.open']);
});

test.each(['page.open', toProviderName('page.open')])(
  'also in a call in text: %s',
  async (subtool) => {
    const { task, called, work } = await createTask(() => ({ text: 'unused' }));
    await carryOut(JSON.stringify({ subtool, args: {} }), task.toolbox, work);
    expect(called).toEqual(['page.open']);
  },
);

test.each(['anthropic', 'openai'])(
  'an answer cut off before it starts says which limit to raise: %s',
  async (api) => {
    const { task } = await createTask(() => ({ text: '', stop: 'limit' }), { maxTokens: 50 }, api);
    await expect(runLoop(task)).rejects.toMatchObject({
      message: "The assistant's model used all 50 output tokens without answering.",
      hint: 'Raise assistant.maxTokens. Reasoning models need more.',
    });
  },
);

test('in single mode, tool uses are not remembered', async () => {
  const { task } = await createTask(() => ({ ...looks(1), text: 'Look.' }), {}, 'openai');
  expect((await askForCall(task)).turn).toEqual([
    { role: 'user', text: 'q' },
    { role: 'said', text: 'Look.' },
  ]);
});
