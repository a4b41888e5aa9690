// What can go wrong between an assistant and its model, and its server: a sentence each that says what
// to do, nothing hung, nothing asked twice that may have been paid for.
import { describe, expect, onTestFinished, test } from 'vitest';
import { ask, createScene, launchOf, memoryServer, type Scene } from '../support/assistant.ts';
import { KEY, type Reply, type Script, startModelServer } from '../support/model-server-chat.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { createProject, PROGRAM } from '../support/project.ts';
import { RawHost, textOf as textOfAnswer } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';
import { V1 } from './matrix/hosts.ts';
import { textOf } from './matrix/results.ts';

const QUERY = { query: 'what do you know?' };

/** Asks once, through the suite. */
async function askOnce(scene: Scene) {
  const host = await V1.connect(launchOf('suite', scene));
  onTestFinished(() => host.close());
  return ask(host, 'suite', QUERY);
}

async function failure(scene: Scene): Promise<string> {
  const answer = await askOnce(scene);
  expect(answer).toMatchObject({ isError: true });
  return textOf(answer);
}

/** The replies one after the other, and the last one for ever. */
const inTurn =
  (...replies: Reply[]): Script =>
  (_request, index) =>
    replies[Math.min(index, replies.length - 1)] ?? 'never';

describe('the provider', () => {
  test('without a key and without claude, nothing starts', async () => {
    const scene = await createScene(() => 'never', memoryServer);
    const env = { ...scene.env, ANTHROPIC_API_KEY: '', PATH: '/nowhere' };
    expect(await failure({ ...scene, env })).toBe(
      'No model is available for the assistant: no API key is set, and the program "claude" is not on the PATH. Set ANTHROPIC_API_KEY, or OPENAI_API_KEY (with OPENAI_BASE_URL for another provider), in the host\'s environment, or install Claude Code.',
    );
    expect(scene.model.requests).toEqual([]);
  });

  test('CLAUDE_API_KEY also works', async () => {
    const scene = await createScene(() => ({ text: 'Nothing.' }), memoryServer);
    const env = { ...scene.env, ANTHROPIC_API_KEY: '', CLAUDE_API_KEY: KEY };
    expect(textOf(await askOnce({ ...scene, env }))).toBe('Nothing.');
    expect(scene.model.requests[0]?.authorization).toBe(`Bearer ${KEY}`);
  });

  test('a rejected key', async () => {
    const reply = { status: 401, message: `invalid key ${KEY}` };
    const scene = await createScene(() => reply, memoryServer);
    expect(await failure(scene)).toBe(
      'The assistant\'s provider "anthropic" rejected the API key (HTTP status 401): invalid key ***. Check ANTHROPIC_API_KEY in the host\'s environment.',
    );
    expect(scene.model.requests).toHaveLength(1);
  });

  test('is retried after the time it asks for', async () => {
    const busy = { status: 429, headers: { 'retry-after': '1' } };
    const scene = await createScene(inTurn(busy, { text: 'Nothing.' }), memoryServer);
    expect(textOf(await askOnce(scene))).toBe('Nothing.');
    expect(scene.model.requests).toHaveLength(2);
  });

  test('is not retried if it asks for more time than is left', async () => {
    const busy = { status: 429, message: 'Slow down', headers: { 'retry-after': '600' } };
    const scene = await createScene(() => busy, memoryServer);
    expect(await failure(scene)).toBe(
      'The assistant\'s provider "anthropic" is rate-limiting requests (HTTP status 429): Slow down. Try again in 10 min.',
    );
    expect(scene.model.requests).toHaveLength(1);
  });

  test.each([503, 529])('is tried three times if it fails with %i', async (status) => {
    const busy = { status, message: 'Overloaded', headers: { 'retry-after-ms': '10' } };
    const scene = await createScene(() => busy, memoryServer);
    expect(await failure(scene)).toContain(`(HTTP status ${status}): Overloaded.`);
    expect(scene.model.requests).toHaveLength(3);
  });

  test('after a tool call, only the model request is repeated', async () => {
    const call = { calls: [{ name: 'echo', args: { n: 1 } }] };
    const busy = { status: 529, headers: { 'retry-after-ms': '10' } };
    const scene = await createScene(inTurn(call, busy, { text: 'Done.' }), () =>
      testServer('toolbox'),
    );
    expect(await askOnce(scene)).toMatchObject({
      content: [{ text: 'Done.' }],
      _meta: { 'switchboard/assistant': { calls: [{ subtool: 'echo', ok: true }], rounds: 2 } },
    });
    const [, refused, repeated] = scene.model.requests;
    expect(repeated).toEqual(refused);
  });

  test('without an answer is tried once, until the time limit', async () => {
    const scene = await createScene(inTurn({ text: 'Nothing.' }, 'never'), (dir) => ({
      ...memoryServer(dir),
      assistant: { timeoutMs: 10_000 },
    }));
    const host = await V1.connect(launchOf('suite', scene));
    onTestFinished(() => host.close());
    expect(textOf(await ask(host, 'suite', QUERY))).toBe('Nothing.'); // all is loaded and started
    expect(textOf(await ask(host, 'suite', QUERY))).toBe(
      'The assistant was stopped after 10 s without an answer. Split the request into smaller ones, or raise assistant.timeoutMs (SWITCHBOARD_CONVERSATION_TIMEOUT_MS).',
    );
    expect(scene.model.requests).toHaveLength(2);
    expect(await eventually(() => scene.model.requests[1]?.isAborted === true)).toBe(true);
  });

  test('the environment can extend the limit, and the caller waits that long', async () => {
    const env = { SWITCHBOARD_CONVERSATION_TIMEOUT_MS: '500' };
    const scene = await createScene(() => 'never', memoryServer, env);
    expect(await failure(scene)).toContain('was stopped after 500 ms');
  });

  test.each([
    ['no JSON at all', 'it is not JSON'],
    ['{"some": "thing"}', 'it is not a message'],
    ['', 'it is no'],
  ])('an unreadable answer: %s', async (body, reason) => {
    const scene = await createScene(() => ({ body }), memoryServer);
    expect(await failure(scene)).toContain(
      `The assistant's provider "anthropic" sent an unreadable response: ${reason}`,
    );
    expect(scene.model.requests).toHaveLength(1);
  });

  test('an unreachable provider', async () => {
    const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' };
    const scene = await createScene(() => 'never', memoryServer, env);
    const text = await failure(scene);
    expect(text).toContain('The assistant\'s provider "anthropic" could not be reached');
    expect(text).toContain('Check the base URL and the network.');
  });

  test('an unknown provider', async () => {
    const env = { SWITCHBOARD_ASSISTANT_PROVIDER: 'oracle' };
    const scene = await createScene(() => 'never', memoryServer, env);
    const host = new RawHost(scene.project, { env: scene.env });
    const stderr = await host.lastWords();
    expect(stderr).toContain(
      'SWITCHBOARD_ASSISTANT_PROVIDER is "oracle", which is not a provider.',
    );
    expect(await host.exited).toMatchObject({ code: 2 });
  });

  test('an outdated model is reported once, in the log', async () => {
    // The SDK prints it. In the background process, that isn't one session's.
    const env = { SWITCHBOARD_ASSISTANT_MODEL: 'claude-sonnet-4-5', SWITCHBOARD_ALONE: '1' };
    const call = { calls: [{ name: 'read_graph', args: {} }] };
    const scene = await createScene(inTurn(call, { text: 'Nothing.' }), memoryServer, env);
    const host = await RawHost.connect(scene.project, { env: scene.env });
    await host.call('kid', 'natural_language', QUERY);
    const stderr = await host.lastWords();
    expect(host.impure).toEqual([]);
    expect(stderr.match(/\[kid\] switchboard: warn: .*is deprecated/g)).toHaveLength(1);
    expect(scene.model.requests.map(({ model }) => model)).toEqual([
      'claude-sonnet-4-5',
      'claude-sonnet-4-5',
    ]);
  });
});

describe('the model', () => {
  const single = { assistant: { mode: 'single' } };

  test('must write a call in single mode', async () => {
    const scene = await createScene(
      () => ({ text: 'I would look into the graph.' }),
      (dir) => ({ ...memoryServer(dir), ...single }),
    );
    expect(await failure(scene)).toBe(
      'The assistant\'s model did not return a tool call: no JSON object {"subtool", "args"}. Ask more precisely, choose another model, or set assistant.mode to "loop".',
    );
  });

  test.each(['loop', 'single'])('an unknown subtool: %s', async (mode) => {
    const scene = await createScene(
      () => ({ text: '{"subtool": "read_grahp", "args": {}}' }),
      (dir) => ({ ...memoryServer(dir), assistant: { mode } }),
    );
    const text = await failure(scene);
    expect(text).toContain('Server "kid" has no subtool "read_grahp". Did you mean "read_graph"');
    expect(text).not.toContain('introspect'); // which there is not, behind an assistant
    expect(scene.model.requests).toHaveLength(1);
  });

  test('that never stops is stopped, and its calls are reported', async () => {
    const script: Script = () => ({ calls: [{ name: 'read_graph', args: {} }] });
    const scene = await createScene(script, (dir) => ({
      ...memoryServer(dir),
      assistant: { maxRounds: 3 },
    }));
    expect(await failure(scene)).toBe(
      "The assistant's model did not reach an answer within 3 rounds of tool calls. Split the request into smaller ones, or raise assistant.maxRounds. Calls made so far: read_graph, read_graph, read_graph.",
    );
    expect(scene.model.requests).toHaveLength(4);
  });

  test('that uses too many tokens is stopped', async () => {
    const script: Script = () => ({ calls: [{ name: 'read_graph', args: {} }] });
    const scene = await createScene(script, (dir) => ({
      ...memoryServer(dir),
      assistant: { maxTotalTokens: 200 },
    }));
    expect(await failure(scene)).toContain('reached the limit of 200 tokens per query');
    expect(scene.model.requests).toHaveLength(2);
  });

  test('with an empty answer', async () => {
    const scene = await createScene(() => ({ text: ' ' }), memoryServer);
    expect(await failure(scene)).toContain("The assistant's model returned an empty answer.");
  });

  test('that refuses', async () => {
    const scene = await createScene(() => ({ text: 'I must not.', stop: 'refused' }), memoryServer);
    expect(await failure(scene)).toBe(
      "The assistant's model refused to answer. It said: I must not.",
    );
  });

  test('a truncated answer says so, and a truncated call is not made', async () => {
    const scene = await createScene(
      inTurn(
        { text: 'Once upon', stop: 'limit' },
        { calls: [{ name: 'read_graph', args: {} }], stop: 'limit' },
      ),
      memoryServer,
    );
    const host = await V1.connect(launchOf('suite', scene));
    onTestFinished(() => host.close());
    expect(textOf(await ask(host, 'suite', QUERY))).toBe(
      'Once upon\n(The answer was cut off at 4096 tokens.)',
    );
    const cut = await ask(host, 'suite', QUERY);
    expect(cut).toMatchObject({ isError: true });
    expect(textOf(cut)).toContain('was cut off at 4096 tokens, in the middle of a call');
  });
});

describe('the server', () => {
  test('that crashes in between is restarted, and the model gets the error', async () => {
    const scene = await createScene(
      ({ results }, index) => {
        if (index === 0) return { calls: [{ name: 'exit', args: { code: 7 } }] };
        if (index === 1) return { calls: [{ name: 'echo', args: { n: 1 } }] };
        return { text: results[0]?.text ?? '' };
      },
      () => testServer('toolbox'),
    );
    expect(await askOnce(scene)).toMatchObject({
      content: [{ text: '{"n":1}' }],
      _meta: {
        'switchboard/assistant': {
          calls: [
            { subtool: 'exit', ok: false },
            { subtool: 'echo', ok: true },
          ],
        },
      },
    });
    const [outcome] = scene.model.requests[1]?.results ?? [];
    expect(outcome?.isError).toBe(true);
    expect(outcome?.text).toContain('exited with code 7 while working on subtool "exit"');
  });

  test('that does not start', async () => {
    const scene = await createScene(
      () => 'never',
      () => ({
        command: 'no-such-program',
        args: [],
      }),
    );
    expect(await failure(scene)).toContain('Server "kid" did not start');
    expect(scene.model.requests).toEqual([]);
  });

  test('that exceeds its time limit for a call', async () => {
    const script: Script = ({ results }) =>
      results[0] ? { text: results[0].text } : { calls: [{ name: 'wait', args: { ms: 60_000 } }] };
    const env = { SWITCHBOARD_CHILD_TIMEOUT_MS: '4000' };
    const scene = await createScene(script, () => testServer('toolbox'), env);
    expect(textOf(await askOnce(scene))).toContain(
      'did not respond within 4000 ms (subtool "wait")',
    );
  });

  test('its secrets never appear, and it gets no keys it should not have', async () => {
    const secret = 'very-secret-value-1';
    const scene = await createScene(
      ({ results }, index) => {
        if (index === 0) return { calls: [{ name: 'say', args: { text: `I know ${secret}` } }] };
        if (index === 1) return { calls: [{ name: 'where_am_i', args: {} }] };
        return { text: results[0]?.text ?? '' };
      },
      () => ({ ...testServer('toolbox'), env: { SECRET: secret }, environment: 'minimal' }),
      { SWITCHBOARD_LOG: 'debug', ANTHROPIC_LOG: 'debug' },
    );
    const host = await RawHost.connect(scene.project, { env: scene.env });
    const answer = await host.call('kid', 'natural_language', {
      query: 'query-4711',
      context: 'ctx-0815',
    });
    const { env } = JSON.parse(textOfAnswer(answer)) as { env: Record<string, string> };
    expect(env).toMatchObject({ SECRET: secret });
    expect(env).not.toHaveProperty('ANTHROPIC_API_KEY');
    const stderr = await host.lastWords();
    expect(stderr).toContain('[kid] I know ***');
    expect(stderr).toContain('assistant: rounds 3, calls 2');
    for (const word of [secret, KEY, '4711', '0815']) expect(stderr).not.toContain(word);
    expect(host.impure).toEqual([]);
  });
});

test('two queries at once are kept apart', async () => {
  const scene = await createScene(
    ({ said }) => ({ text: `You asked: ${said.at(-1)}` }),
    memoryServer,
  );
  const host = await RawHost.connect(scene.project, { env: scene.env });
  const answers = await Promise.all(
    ['one', 'two', 'three'].map((query) => host.call('kid', 'natural_language', { query })),
  );
  expect(answers.map(textOfAnswer)).toEqual([
    'You asked: one',
    'You asked: two',
    'You asked: three',
  ]);
  expect(scene.model.requests.map(({ said }) => said.length)).toEqual([1, 1, 1]);
});

describe('an assistant started directly', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'and stopped with %s also stops its server and its request',
    async (signal) => {
      const scene = await createScene(() => 'never', memoryServer);
      const args = ['assistant', 'serve', 'kid'];
      const host = await RawHost.connect(scene.project, { args, env: scene.env });
      void host.callTool('natural_language', QUERY);
      expect(await eventually(() => scene.model.requests.length === 1)).toBe(true);
      expect(processesWith(scene.project.dir)).toHaveLength(1);
      host.process.kill(signal);
      await host.exited;
      expect(await eventually(() => processesWith(scene.project.dir).length === 0)).toBe(true);
      expect(await eventually(() => scene.model.requests[0]?.isAborted === true)).toBe(true);
    },
  );
});

test.each(['inherit', 'minimal'])(
  'a nested Switchboard with the same assistant does not recurse endlessly: %s',
  async (environment) => {
    const call = { action: 'call', subtool: 'natural_language', args: QUERY };
    const model = await startModelServer(({ results }) =>
      results[0] ? { text: results[0].text } : { calls: [{ name: 'kid_suite', args: call }] },
    );
    const project = createProject();
    const env = { ...project.env, ...model.env('messages') };
    const kid = { command: process.execPath, args: [PROGRAM], env, environment, assistant: true };
    project.write('switchboard.config.json', { mcpServers: { kid } });
    const host = await RawHost.connect(project, { env });
    const answer = await host.call('kid', 'natural_language', QUERY);
    expect(textOfAnswer(answer)).toContain(
      'The assistant for server "kid" was not started because it is nested 2 levels deep',
    );
    expect(model.requests).toHaveLength(4);
  },
);
