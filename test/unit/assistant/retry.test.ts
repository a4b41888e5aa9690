import { expect, test } from 'vitest';
import { formatWait } from '../../../src/assistant/failures.ts';
import type { CompletionRequest } from '../../../src/assistant/provider.ts';
import { createOpenAi } from '../../../src/assistant/providers/openai.ts';
import { completeWithRetries } from '../../../src/assistant/retry.ts';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { type Script, startModelServer } from '../../support/model-server-chat.ts';

async function ask(script: Script, some: { baseUrl?: string; keyVariable?: string } = {}) {
  const server = await startModelServer(script);
  const provider = createOpenAi({
    apiKey: 'k',
    model: 'm',
    maxTokens: 10,
    baseUrl: server.url,
    ...some,
  });
  const waits: number[] = [];
  const cancellation = new Cancellation();
  const request: CompletionRequest = { system: '', messages: [], tools: [], cancellation };
  let onWait = (_ms: number): void => {};
  const waiting = new Promise<void>((resolve) => (onWait = () => resolve()));
  const answer = completeWithRetries(provider, request, {
    remainingMs: () => 60_000,
    onWait: (ms) => {
      waits.push(ms);
      onWait(ms);
    },
  });
  answer.catch(() => {});
  return { server, answer, waits, waiting, cancellation };
}

test.each([429, 503, 529])('%i means "not now", and is retried', async (status) => {
  const headers = { 'retry-after-ms': '5' };
  const { answer, waits } = await ask((_request, index) =>
    index === 0 ? { status, headers } : { text: 'Yes.' },
  );
  expect((await answer).text).toBe('Yes.');
  expect(waits).toEqual([5]);
});

test.each([400, 401, 404, 500, 502, 504])(
  '%i is not retried: it may have been charged',
  async (status) => {
    const headers = { 'retry-after-ms': '5' };
    const { server, answer } = await ask(() => ({ status, headers }));
    await expect(answer).rejects.toMatchObject({ code: 'ASSISTANT_FAILED' });
    expect(server.requests).toHaveLength(1);
  },
);

test('an answer that breaks off is not', async () => {
  const { server, answer } = await ask(() => 'broken');
  await expect(answer).rejects.toMatchObject({ code: 'ASSISTANT_FAILED' });
  expect(server.requests).toHaveLength(1);
});

test('cancelling during the wait sends nothing more', async () => {
  const headers = { 'retry-after': '50' };
  const { server, answer, waiting, cancellation } = await ask(() => ({ status: 429, headers }));
  await waiting;
  const reason = new Error('never mind');
  cancellation.cancel(reason);
  await expect(answer).rejects.toBe(reason);
  expect(server.requests).toHaveLength(1);
});

test('a rejected key is named by its variable', async () => {
  const { answer } = await ask(() => ({ status: 401 }), { keyVariable: 'MINE' });
  await expect(answer).rejects.toMatchObject({
    hint: "Check MINE in the host's environment.",
  });
});

test.each([400, 413, 422])('a request refused with %i may be too large', async (status) => {
  const { answer } = await ask(() => ({ status }));
  await expect(answer).rejects.toMatchObject({
    hint: expect.stringContaining('expose fewer') as unknown,
  });
});

test.each([
  ['1000000000', 'Try again later.'],
  ['3600', 'Try again in 60 min.'],
])('a wait of %s seconds is formatted', async (seconds, hint) => {
  const headers = { 'retry-after': seconds };
  const { answer } = await ask(() => ({ status: 429, headers }));
  await expect(answer).rejects.toMatchObject({ hint });
});

test('an absurdly long wait is not named', async () => {
  const headers = { 'retry-after': 'Infinity' };
  const { answer, waits, waiting, cancellation } = await ask(() => ({ status: 429, headers }));
  await waiting;
  cancellation.cancel(new Error('enough'));
  await expect(answer).rejects.toThrow('enough');
  expect(waits).toEqual([500]);
});

test.each([
  [0, 'a moment'],
  [0.4, '1 s'],
  [1_500, '2 s'],
  [119_000, '119 s'],
  [601_000, '10 min'],
])('%d milliseconds are %s', (ms, words) => {
  expect(formatWait(ms)).toBe(words);
});
