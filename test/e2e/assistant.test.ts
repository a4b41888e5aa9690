// A server spoken to in plain language, through the built program: the published servers behind it, a
// model's provider on loopback that is asked with the official SDK, the official clients as hosts.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ask, createScene, launchOf, memoryServer, type Scene } from '../support/assistant.ts';
import { type Reply, type Script, USAGE } from '../support/model-server-chat.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { eraServer, publishedServer, testServer } from '../support/servers.ts';
import { HOSTS, type HostDriver, V1, V2_MODERN } from './matrix/hosts.ts';
import { textOf } from './matrix/results.ts';

const SECRET = 'remember that my API key is xyz-4711-secret';
const ROUTES = ['alone', 'suite'] as const;
/** `npm test` tries two places, the thorough suite all of them. */
const EVERYWHERE =
  process.env['PLACES'] === 'core'
    ? ([
        { driver: V1, route: 'alone' },
        { driver: V2_MODERN, route: 'suite' },
      ] as const)
    : HOSTS.flatMap((driver) => ROUTES.map((route) => ({ driver, route })));

/** Uses one tool, then says something about what came of it. */
const usesOnce =
  (name: string, args: object, say: (result: string) => string): Script =>
  ({ results }): Reply =>
    results[0] ? { text: say(results[0].text) } : { calls: [{ name, args }] };

const remembers = usesOnce(
  'create_entities',
  { entities: [{ name: 'api_key', entityType: 'secret', observations: ['xyz-4711-secret'] }] },
  () => 'I have remembered it.',
);

async function connect(driver: HostDriver, route: 'alone' | 'suite', scene: Scene) {
  const host = await driver.connect(launchOf(route, scene));
  expect(processesWith(scene.project.dir)).not.toEqual([]);
  onTestFinished(async () => {
    await host.close();
    expect(await eventually(() => processesWith(scene.project.dir).length === 0)).toBe(true);
  });
  return host;
}

describe.each(EVERYWHERE)('$driver.name, $route', ({ driver, route }) => {
  test('carries out a plain-language request and reports the result', async () => {
    const scene = await createScene(remembers, memoryServer);
    const host = await connect(driver, route, scene);
    const progress: unknown[] = [];
    const answer = await ask(
      host,
      route,
      { query: SECRET, context: 'It is for the weather.' },
      { onProgress: (told) => progress.push(told) },
    );
    expect(answer).toMatchObject({
      content: [{ type: 'text', text: 'I have remembered it.' }],
      _meta: {
        'switchboard/assistant': {
          calls: [{ subtool: 'create_entities', ok: true, ms: expect.any(Number) }],
          rounds: 2,
          usage: { inputTokens: 2 * USAGE.inputTokens, outputTokens: 2 * USAGE.outputTokens },
          provider: 'anthropic',
        },
      },
    });
    const kept = readFileSync(join(scene.project.dir, 'memory.jsonl'), 'utf8');
    expect(kept).toContain('xyz-4711-secret');
    const [first, second] = scene.model.requests;
    expect(first?.said).toEqual([`${SECRET}\n\nContext:\nIt is for the weather.`]);
    expect(first?.tools.map(({ name }) => name)).toContain('search_nodes');
    expect(second?.results).toEqual([
      { id: 'use_0_0', text: expect.stringContaining('xyz-4711-secret'), isError: false },
    ]);
    const told = host.received
      .filter(({ method }) => method === 'notifications/progress')
      .map(({ params }) => [params?.['progress'], params?.['message']])
      // A slow start is reported with negative numbers.
      .filter(([progress]) => Number(progress) > 0);
    expect(told).toEqual([
      [1, 'Round 1: asking the model'],
      [2, 'Round 1: create_entities'],
      [3, 'Round 2: asking the model'],
    ]);
  });

  test.each(['handshake', 'modern'])('a server of the %s era can ask the user', async (era) => {
    const script = usesOnce('ask_form', {}, (result) => `It said: ${result}`);
    const scene = await createScene(script, () => eraServer(era));
    const host = await connect(driver, route, scene);
    const content = { name: 'Ada' };
    host.answers.elicit = () => ({ action: 'accept', content });
    const answer = await ask(host, route, { query: 'ask me' });
    expect(textOf(answer)).toContain(JSON.stringify({ action: 'accept', content }));
    expect(host.asked.map(({ params }) => params.message)).toEqual([
      'Server "kid" asks: What is your name?',
    ]);
  });
});

describe.each([V1, V2_MODERN])('$name', (driver) => {
  test('an assistant has one tool, which takes a query', async () => {
    const scene = await createScene(remembers, memoryServer);
    const host = await connect(driver, 'alone', scene);
    const tools = await host.listTools();
    expect(tools).toEqual([
      {
        name: 'natural_language',
        description:
          'Use this tool for long-term memory: describe what you want in plain language.',
        inputSchema: {
          type: 'object',
          properties: {
            query: { type: 'string', description: 'What you want, in plain language.' },
            context: {
              type: 'string',
              description: 'Background that helps to understand the query.',
            },
          },
          required: ['query'],
        },
        _meta: { 'anthropic/alwaysLoad': true },
      },
    ]);
    expect(textOf(await host.callTool('natural_language', {}))).toBe(
      'Missing required parameter: query (for natural_language). Describe what you want in plain language: {"query": "..."}.',
    );
    expect(textOf(await host.callTool('converse', { query: SECRET }))).toBe(
      'I have remembered it.',
    );
    await expect(host.callTool('create_entities', {})).rejects.toThrow('Unknown tool');
    expect(await host.listPrompts()).toEqual([]);
    expect(await host.listResources()).toEqual([]);
    expect(scene.model.requests).toHaveLength(2);
  });

  test('a follow-up is understood', async () => {
    const script: Script = ({ said }) => ({ text: `answer ${said.length}` });
    const scene = await createScene(script, memoryServer);
    const host = await connect(driver, 'suite', scene);
    await ask(host, 'suite', { query: 'first' });
    await ask(host, 'suite', { query: 'second' });
    expect(scene.model.requests.map(({ said }) => said)).toEqual([
      ['first'],
      ['first', 'answer 1', 'second'],
    ]);
  });

  test('with no memory, every query is the first', async () => {
    const env = { SWITCHBOARD_SESSION_IDLE_MS: '0' };
    const scene = await createScene(() => ({ text: 'yes' }), memoryServer, env);
    const host = await connect(driver, 'suite', scene);
    await ask(host, 'suite', { query: 'first' });
    await ask(host, 'suite', { query: 'second' });
    expect(scene.model.requests.map(({ said }) => said)).toEqual([['first'], ['second']]);
  });

  test.each(ROUTES)('cancelling a query cancels the current call, %s', async (route) => {
    const script = usesOnce('hold', {}, () => 'never said');
    const scene = await createScene(script, (dir) => ({
      ...testServer('recording', join(dir, 'journal.txt'), '{}'),
    }));
    const journal = join(scene.project.dir, 'journal.txt');
    const host = await connect(driver, route, scene);
    const controller = new AbortController();
    const answer = ask(host, route, { query: 'wait' }, { signal: controller.signal });
    const isIn = (word: string) => () =>
      existsSync(journal) && readFileSync(journal, 'utf8').includes(word);
    expect(await eventually(isIn('"hold"'))).toBe(true);
    controller.abort();
    await expect(answer).rejects.toBeInstanceOf(Error);
    expect(await eventually(isIn('notifications/cancelled'))).toBe(true);
    expect(scene.model.requests).toHaveLength(1);
  });

  test.each(ROUTES)('cancelling a query aborts the model request, %s', async (route) => {
    const scene = await createScene(() => 'never', memoryServer);
    const host = await connect(driver, route, scene);
    const controller = new AbortController();
    const answer = ask(host, route, { query: 'wait' }, { signal: controller.signal });
    expect(await eventually(() => scene.model.requests.length === 1)).toBe(true);
    controller.abort();
    await expect(answer).rejects.toBeInstanceOf(Error);
    expect(await eventually(() => scene.model.requests[0]?.isAborted === true)).toBe(true);
  });
});

test('a host that disconnects leaves neither a request nor a process', async () => {
  const scene = await createScene(() => 'never', memoryServer);
  const host = await V1.connect(launchOf('suite', scene));
  const answer = ask(host, 'suite', { query: 'wait' }).catch(() => {});
  expect(await eventually(() => scene.model.requests.length === 1)).toBe(true);
  await host.close();
  await answer;
  expect(await eventually(() => scene.model.requests[0]?.isAborted === true)).toBe(true);
  expect(await eventually(() => processesWith(scene.project.dir).length === 0)).toBe(true);
});

describe('the model’s tools', () => {
  const denied = { expose: { deny: ['delete_*'] } };

  test('are those the rules allow, without the assistant’s own', async () => {
    const script: Script = ({ results }) =>
      results[0]
        ? { text: results[0].text }
        : { calls: [{ name: 'delete_entities', args: { entityNames: ['a'] } }] };
    const allow = { expose: { allow: ['read_graph', 'delete_*'], deny: ['delete_*'] } };
    const scene = await createScene(script, (dir) => ({ ...memoryServer(dir), ...allow }));
    const host = await connect(V1, 'suite', scene);
    const answer = await ask(host, 'suite', { query: 'delete it' });
    expect(scene.model.requests[0]?.tools.map(({ name }) => name)).toEqual(['read_graph']);
    expect(textOf(answer)).toContain("Subtool 'delete_entities' not allowed");
    expect(answer).toMatchObject({ _meta: { 'switchboard/assistant': { calls: [] } } });
  });

  test('calls in the answer text cannot bypass the rules', async () => {
    const told = JSON.stringify({ subtool: 'delete_entities', args: { entityNames: ['a'] } });
    const scene = await createScene(
      () => ({ text: told }),
      (dir) => ({ ...memoryServer(dir), ...denied }),
    );
    const host = await connect(V1, 'suite', scene);
    const answer = await ask(host, 'suite', { query: 'delete it' });
    expect(answer).toMatchObject({ isError: true });
    expect(textOf(answer)).toContain("Subtool 'delete_entities' not allowed");
  });

  test('have names the provider accepts, and are found by them', async () => {
    const odd = `page.open-${'x'.repeat(80)}`;
    const list = JSON.stringify([
      { name: odd, description: 'Odd.', inputSchema: { type: 'object' } },
    ]);
    const script: Script = ({ tools, results }) =>
      results[0]
        ? { text: results[0].text }
        : { calls: [{ name: tools[0]?.name ?? '', args: {} }] };
    const scene = await createScene(script, () => testServer('odd-names', list));
    const host = await connect(V1, 'suite', scene);
    const answer = await ask(host, 'suite', { query: 'open it' });
    expect(textOf(answer)).toBe(`called ${odd}`);
    expect(scene.model.requests[0]?.tools[0]?.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(answer).toMatchObject({
      _meta: { 'switchboard/assistant': { calls: [{ subtool: odd, ok: true }] } },
    });
  });
});

describe('a call in the model’s answer text', () => {
  const told = '```json\n{"subtool": "read_text_file", "args": {"path": "PATH"}}\n```';

  test.each(['loop', 'single'])('is made, and its result is the answer: %s', async (mode) => {
    const scene = await createScene(
      () => ({ text: told.replace('PATH', join(scene.project.dir, 'tea.txt')) }),
      // The project's folder, which the server also gets as a root.
      (folder) => ({ ...publishedServer('filesystem', folder), assistant: { mode } }),
    );
    scene.project.write('tea.txt', 'Darjeeling');
    const host = await connect(V1, 'suite', scene);
    const answer = await ask(host, 'suite', { query: 'what is in tea.txt?' });
    expect(answer).toEqual({
      content: [{ type: 'text', text: 'Darjeeling' }],
      structuredContent: { content: 'Darjeeling' },
    });
    const [request, ...more] = scene.model.requests;
    expect(more).toEqual([]);
    expect(request?.tools.length === 0).toBe(mode === 'single');
    expect(request?.system.includes('"name":"read_text_file"')).toBe(mode === 'single');
  });
});

test.each(['loop', 'single'])(
  'a follow-up knows the result of a call in text: %s',
  async (mode) => {
    const script: Script = () => ({ text: '{"subtool": "read_graph", "args": {}}' });
    const scene = await createScene(script, (dir) => ({
      ...memoryServer(dir),
      assistant: { mode },
    }));
    const host = await connect(V1, 'suite', scene);
    await ask(host, 'suite', { query: 'what is there?' });
    await ask(host, 'suite', { query: 'and now?' });
    const [, second] = scene.model.requests;
    expect(second?.said).toEqual([
      'what is there?',
      '{"subtool": "read_graph", "args": {}}',
      expect.stringMatching(/^Result of this call:\n[^]*"entities": \[\][^]*\n\nand now\?$/),
    ]);
  },
);

test('makes several calls of one answer in order, and returns failures to the model', async () => {
  const script: Script = ({ results }) =>
    results.length > 0
      ? { text: results.map(({ text, isError }) => `${isError}: ${text}`).join('\n') }
      : {
          calls: [
            { name: 'echo', args: { n: 1 } },
            { name: 'complain', args: { text: 'It hurts.' } },
            { name: 'fail', args: { code: -32000, message: 'No way.' } },
            { name: 'nonsense', args: {} },
            { name: 'echo', args: { n: 2 } },
          ],
        };
  const scene = await createScene(script, () => testServer('toolbox'));
  const host = await connect(V1, 'suite', scene);
  const answer = await ask(host, 'suite', { query: 'do it all' });
  const lines = textOf(answer).split('\n');
  expect(lines.slice(0, 3)).toEqual([
    'false: {"n":1}',
    'true: It hurts.',
    'true: No way. (server "kid", subtool "fail")',
  ]);
  expect(lines[3]).toContain('true: Server "kid" has no subtool "nonsense".');
  expect(lines[4]).toBe('false: {"n":2}');
  expect(answer).toMatchObject({
    _meta: {
      'switchboard/assistant': {
        calls: [
          { subtool: 'echo', ok: true },
          { subtool: 'complain', ok: false },
          { subtool: 'fail', ok: false },
          { subtool: 'echo', ok: true },
        ],
      },
    },
  });
});

test('a long result is truncated with a note', async () => {
  const script = usesOnce('echo', { text: 'x'.repeat(5_000) }, (result) => result);
  const entry = { ...testServer('toolbox'), assistant: { maxResultChars: 100 } };
  const scene = await createScene(script, () => entry);
  const host = await connect(V1, 'suite', scene);
  const text = textOf(await ask(host, 'suite', { query: 'say much' }));
  expect(text).toMatch(/^\{"text":"x{91}\n… \(cut off after 100 of 5011 characters\)$/);
});

test('works the same through chat completions', async () => {
  const scene = await createScene(remembers, memoryServer);
  const env = { ...scene.env, ...scene.model.env('chat'), ANTHROPIC_API_KEY: '' };
  const host = await connect(V1, 'suite', { ...scene, env });
  const answer = await ask(host, 'suite', { query: SECRET });
  expect(answer).toMatchObject({
    content: [{ text: 'I have remembered it.' }],
    _meta: {
      'switchboard/assistant': {
        provider: 'openai',
        usage: { inputTokens: 2 * USAGE.inputTokens, outputTokens: 2 * USAGE.outputTokens },
      },
    },
  });
  expect(scene.model.requests.map(({ api }) => api)).toEqual(['chat', 'chat']);
});
