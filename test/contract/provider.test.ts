// What every model provider promises an assistant, whether it speaks an API or is a program that uses the
// tools by itself: one request per question, an answer or a ModelFailure, and an end when cancelled.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Usage } from '../../src/assistant/provider.ts';
import { createAnthropic } from '../../src/assistant/providers/anthropic.ts';
import { ClaudeCli } from '../../src/assistant/providers/claude-cli.ts';
import { createOpenAi } from '../../src/assistant/providers/openai.ts';
import { settleAssistant } from '../../src/assistant/settings.ts';
import { Cancellation } from '../../src/base/cancellation.ts';
import { createPrintingClaude } from '../support/claude-print.ts';
import { KEY, type Script, startModelServer } from '../support/model-server-chat.ts';
import { eventually, isAlive } from '../support/processes.ts';
import { createProject } from '../support/project.ts';

type Behavior = 'answers' | 'fails' | 'hangs';

interface OpenedProvider {
  readonly name: string;
  readonly model: string | undefined;
  /** Asks the model, and gives its answer. */
  readonly ask: (
    query: string,
    cancellation?: Cancellation,
  ) => Promise<{ readonly text: string; readonly usage: Usage }>;
  /** What the model was asked so far. */
  readonly asked: () => readonly { readonly system: string; readonly query: string }[];
  /** Whether a request is still open. */
  readonly isBusy: () => boolean;
}

type OpenProvider = (behavior: Behavior) => Promise<OpenedProvider>;

const SYSTEM = 'Be brief.';
const REASON = 'Credit balance is too low';
const MODEL = 'some-model';

function describeProvider(name: string, open: OpenProvider): void {
  describe(`${name} keeps the provider contract`, () => {
    test('it has the name of its setting, and the model it was created with', async () => {
      expect(await open('answers')).toMatchObject({ name, model: MODEL });
    });

    test('a question reaches the model once, and its answer comes back with its cost', async () => {
      const { ask, asked } = await open('answers');
      const { text, usage } = await ask('How are you?');
      expect(text).toBe('You asked: How are you?');
      expect(usage.inputTokens).toBeGreaterThan(0);
      expect(usage.outputTokens).toBeGreaterThan(0);
      expect(asked()).toEqual([{ system: SYSTEM, query: 'How are you?' }]);
    });

    test('half a character is not sent, and harms nothing else', async () => {
      const { ask } = await open('answers');
      expect((await ask('half \ud83d, whole 😀')).text).toBe('You asked: half \ufffd, whole 😀');
    });

    test('a failure is a ModelFailure with the reason, and nothing is sent again', async () => {
      const { ask, asked } = await open('fails');
      await expect(ask('Hello')).rejects.toMatchObject({ name: 'ModelFailure', message: REASON });
      expect(asked()).toHaveLength(1);
    });

    test('a provider is of use after a failure', async () => {
      const { ask, asked } = await open('fails');
      await expect(ask('first')).rejects.toThrow(REASON);
      await expect(ask('second')).rejects.toThrow(REASON);
      expect(asked().map(({ query }) => query)).toEqual(['first', 'second']);
    });

    test('questions at the same time get their own answers', async () => {
      const { ask } = await open('answers');
      const answers = await Promise.all(['one', 'two', 'three'].map((query) => ask(query)));
      expect(answers.map(({ text }) => text)).toEqual([
        'You asked: one',
        'You asked: two',
        'You asked: three',
      ]);
    });

    test('a question cancelled before it is sent is never sent', async () => {
      const { ask, asked } = await open('answers');
      const cancellation = new Cancellation();
      const reason = new Error('never mind');
      cancellation.cancel(reason);
      await expect(ask('Hello', cancellation)).rejects.toBe(reason);
      expect(asked()).toEqual([]);
    });

    test('a cancelled question rejects with the reason, and its request ends', async () => {
      const { ask, asked, isBusy } = await open('hangs');
      const cancellation = new Cancellation();
      const answer = ask('Hello', cancellation);
      answer.catch(() => {}); // looked at below
      expect(await eventually(() => asked().length === 1)).toBe(true);
      expect(isBusy()).toBe(true);
      const reason = new Error('never mind');
      cancellation.cancel(reason);
      await expect(answer).rejects.toBe(reason);
      expect(await eventually(() => !isBusy())).toBe(true);
    });
  });
}

const SCRIPTS: Record<Behavior, Script> = {
  answers: ({ said }) => ({ text: `You asked: ${said.at(-1) ?? ''}` }),
  fails: () => ({ status: 402, message: REASON }),
  hangs: () => 'never',
};

const API = { apiKey: KEY, model: MODEL, maxTokens: 1_000 };

for (const api of ['anthropic', 'openai'] as const) {
  describeProvider(api, async (behavior) => {
    const server = await startModelServer(SCRIPTS[behavior]);
    const provider =
      api === 'anthropic'
        ? await createAnthropic({ ...API, baseUrl: server.url })
        : createOpenAi({ ...API, baseUrl: `${server.url}/v1` });
    return {
      name: provider.name,
      model: provider.model,
      ask: (text, cancellation = new Cancellation()) => {
        const messages = [{ role: 'user', text }] as const;
        return provider.complete({ system: SYSTEM, messages, tools: [], cancellation });
      },
      asked: () => server.requests.map(({ system, said }) => ({ system, query: said.join() })),
      isBusy: () => server.requests.some(({ isAborted }) => !isAborted),
    };
  });
}

const DOES: Record<Behavior, string> = { answers: '', fails: 'error', hangs: 'hang' };

describeProvider('claude-cli', async (behavior) => {
  const project = createProject();
  const program = createPrintingClaude(project);
  const env = { ...project.env, ...program.env, CLAUDE_DOES: DOES[behavior] };
  const pids: number[] = [];
  const provider = new ClaudeCli({
    childName: 'kid',
    settings: settleAssistant(undefined, {}),
    env,
    toolServer: { command: 'server', args: [], env: {} },
    processes: { mark: {}, onProcess: (pid) => void pids.push(pid) },
    model: MODEL,
  });
  onTestFinished(() => provider[Symbol.dispose]());
  return {
    name: provider.name,
    model: provider.model,
    ask: (query, cancellation = new Cancellation()) =>
      provider.run({
        system: SYSTEM,
        query,
        tools: 'all',
        session: undefined,
        cancellation,
        onUse: () => () => {},
        onRound: () => {},
      }),
    asked: () => program.calls().map(({ system, query }) => ({ system, query })),
    isBusy: () => pids.some(isAlive),
  };
});
