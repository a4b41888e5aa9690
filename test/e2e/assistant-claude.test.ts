// An assistant without a key, whose model is asked through the program `claude`: it is given this server
// and nothing else.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ask, launchOf, memoryServer } from '../support/assistant.ts';
import { createPrintingClaude } from '../support/claude-print.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { createProject, PATIENT } from '../support/project.ts';
import { RawHost } from '../support/raw-host.ts';
import { V1 } from './matrix/hosts.ts';
import { textOf } from './matrix/results.ts';

const SECRET = 'remember that my API key is xyz-4711-secret';

async function connect(does = '', more: object = {}) {
  const project = createProject();
  const { args, ...entry } = memoryServer(project.dir);
  project.write('switchboard.config.json', {
    ...PATIENT,
    mcpServers: { kid: { args: [...args, project.dir], ...entry, assistant: true, ...more } },
  });
  const claude = createPrintingClaude(project);
  const env = { ...project.env, ...claude.env, CLAUDE_DOES: does };
  const host = await V1.connect(launchOf('suite', { project, env }));
  onTestFinished(async () => {
    await host.close();
    expect(await eventually(() => processesWith(project.dir).length === 0)).toBe(true);
  });
  return { project, claude, host };
}

test('sends the query over stdin, with only this server’s tools and default permissions', async () => {
  const { claude, host, project } = await connect();
  const answer = await ask(host, 'suite', { query: SECRET });
  expect(answer).toEqual({
    content: [{ type: 'text', text: `You asked: ${SECRET}` }],
    _meta: {
      'switchboard/assistant': {
        calls: [],
        rounds: 3,
        usage: { inputTokens: 15, outputTokens: 2 },
        provider: 'claude-cli',
      },
    },
  });
  const [call, ...more] = claude.calls();
  expect(more).toEqual([]);
  const { args = [], mcpServers, cwd = '', query } = call ?? {};
  const file = join(cwd, 'claude.mcp.json');
  expect(query).toBe(SECRET);
  const fixed = `-p --output-format stream-json --verbose --mcp-config ${file} --strict-mcp-config --setting-sources user --tools  --allowedTools mcp__kid --disallowedTools Read(//**) --permission-mode default --max-turns 21 --append-system-prompt`;
  expect(args.slice(0, -1)).toEqual(fixed.split(' '));
  expect(call?.system).toContain('You speak for the MCP server "kid".');
  expect(args.join(' ')).not.toContain('You speak for');
  expect(mcpServers).toEqual({
    kid: {
      type: 'stdio',
      command: process.execPath,
      args: expect.arrayContaining(['assistant', 'serve', '--tools', 'kid']) as unknown,
      env: {
        WORKSPACE_DIR: project.dir,
        SWITCHBOARD_HOME: expect.any(String) as unknown,
        SWITCHBOARD_ASSISTANT_DEPTH: '1',
      },
    },
  });
  // Neither a part of another, which it would not run inside of, nor with anything that it does by itself.
  expect(call?.env).toEqual({
    CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
    CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
    CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1',
    CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: '1',
    MCP_CONNECTION_NONBLOCKING: '0',
    MCP_TIMEOUT: '120000',
  });
  await host.close();
  expect(await eventually(() => !existsSync(dirname(file)))).toBe(true);
});

test('can use only the tools the rules allow', async () => {
  const { host } = await connect('use-tools', { expose: { deny: ['delete_*', 'create_*'] } });
  const answer = await ask(host, 'suite', { query: 'what do you know?' });
  const { tools, graph } = JSON.parse(textOf(answer)) as { tools: string[]; graph: string };
  expect(tools).toContain('read_graph');
  expect(tools.filter((name) => /^(delete|create)_/.test(name))).toEqual([]);
  expect(JSON.parse(graph)).toEqual({ entities: [], relations: [] });
});

test('reports its calls as progress and with the answer', async () => {
  const { host } = await connect('use-tools');
  const told: (string | undefined)[] = [];
  const answer = await ask(
    host,
    'suite',
    { query: 'what do you know?' },
    // A slow start of the assistant's own process is reported below zero.
    { onProgress: ({ progress, message }) => progress > 0 && told.push(message) },
  );
  const ms = expect.any(Number) as unknown;
  expect(answer).toMatchObject({
    _meta: {
      'switchboard/assistant': {
        calls: [
          { subtool: 'open_nodes', ok: false, ms },
          { subtool: 'read_graph', ok: true, ms },
        ],
        rounds: 3,
      },
    },
  });
  // On a busy machine, progress also tells that the server is starting.
  expect(told.filter((message) => message?.startsWith('Round'))).toEqual([
    'Round 1: asking the model',
    'Round 1: open_nodes',
    'Round 2: asking the model',
    'Round 2: read_graph',
    'Round 3: asking the model',
  ]);
});

test('fails if its server is not connected', async () => {
  const { host } = await connect('use-tools', { args: ['-e', 'process.exit(7)'] });
  const answer = await ask(host, 'suite', { query: 'what do you know?' });
  expect(answer).toMatchObject({ isError: true });
  expect(textOf(answer)).toContain('exited with code 7');
});

test('a query is never a command', async () => {
  const { claude, host } = await connect();
  await ask(host, 'suite', { query: '/init' });
  await ask(host, 'suite', { query: '/compact' });
  expect(claude.calls().map(({ query }) => query)).toEqual(['/init', '/compact']);
  expect(claude.calls().filter(({ input }) => input.startsWith('/'))).toEqual([]);
});

test.each([
  [0, true],
  [60_000, false],
])(
  'saves conversations only if they are remembered: for %i ms',
  async (conversationMs, isForgotten) => {
    const { claude, host } = await connect('', { assistant: { conversationMs } });
    await ask(host, 'suite', { query: 'hello' });
    expect(claude.calls()[0]?.args.includes('--no-session-persistence')).toBe(isForgotten);
  },
);

test('a follow-up resumes the session', async () => {
  const { claude, host } = await connect();
  await ask(host, 'suite', { query: 'one' });
  await ask(host, 'suite', { query: 'four' });
  await ask(host, 'suite', { query: 'again' });
  const resumed = claude.calls().map(({ args }) => args[args.indexOf('--resume') + 1]);
  expect(resumed.slice(1)).toEqual(['session-3', 'session-4']);
  expect(claude.calls()[0]?.args).not.toContain('--resume');
  expect(claude.calls().map(({ system }) => system !== '')).toEqual([true, false, false]);
});

test('a call in the answer text is made', async () => {
  const { host } = await connect('{"subtool": "read_graph", "args": {}}');
  expect(await ask(host, 'suite', { query: 'what do you know?' })).toMatchObject({
    structuredContent: { entities: [], relations: [] },
  });
});

test('has no tools in single mode', async () => {
  const { claude, host } = await connect('{"subtool": "read_graph"}', {
    assistant: { mode: 'single', model: 'some-model' },
  });
  expect(await ask(host, 'suite', { query: 'what do you know?' })).toMatchObject({
    structuredContent: { entities: [], relations: [] },
  });
  const { args = [], mcpServers } = claude.calls()[0] ?? {};
  expect(mcpServers).toEqual({});
  expect(args).not.toContain('--allowedTools');
  expect(args.slice(args.indexOf('--model')).slice(0, 2)).toEqual(['--model', 'some-model']);
});

test.each([
  ['fail', 'Invalid API key · Please run /login'],
  ['error', 'Credit balance is too low'],
])('explains why it cannot answer: %s', async (does, reason) => {
  const { host } = await connect(does);
  const answer = await ask(host, 'suite', { query: 'what do you know?' });
  expect(answer).toMatchObject({ isError: true });
  expect(textOf(answer)).toBe(
    `The assistant's provider "claude-cli" could not be reached: ${reason}. Try it in a terminal: claude -p hello`,
  );
});

test('cancelling a query stops the program', async () => {
  const { claude, host, project } = await connect('hang');
  const controller = new AbortController();
  const answer = ask(host, 'suite', { query: 'wait' }, { signal: controller.signal });
  expect(await eventually(() => claude.calls().length === 1)).toBe(true);
  const program = join(project.dir, 'bin/claude');
  expect(processesWith(program)).toHaveLength(1);
  controller.abort();
  await expect(answer).rejects.toBeInstanceOf(Error);
  expect(await eventually(() => processesWith(program).length === 0)).toBe(true);
});

test('a role too long for an argument is still passed, and other users cannot see it', async () => {
  const role = `You know a lot. ${'x'.repeat(300_000)}`;
  const { claude, host } = await connect('{"subtool": "read_graph"}', {
    assistant: { mode: 'single', role },
  });
  expect(await ask(host, 'suite', { query: 'what do you know?' })).toMatchObject({
    structuredContent: { entities: [], relations: [] },
  });
  const [call] = claude.calls();
  expect(call?.system).toContain(role);
  expect(call?.system).toContain('"name":"read_graph"');
  expect(call?.args.join(' ').length).toBeLessThan(2_000);
});

test('its rounds have our limit', async () => {
  const { claude, host } = await connect('too-many', { assistant: { maxRounds: 3 } });
  const answer = await ask(host, 'suite', { query: 'what do you know?' });
  expect(textOf(answer)).toBe(
    "The assistant's model did not reach an answer within 3 rounds of tool calls. Split the request into smaller ones, or raise assistant.maxRounds.",
  );
  const { args = [] } = claude.calls()[0] ?? {};
  expect(args.slice(args.indexOf('--max-turns')).slice(0, 2)).toEqual(['--max-turns', '4']);
});

/** An assistant that is started by itself and has asked `claude`, which does not answer. */
async function startAsking() {
  const project = createProject();
  const { args, ...entry } = memoryServer(project.dir);
  const kid = { args: [...args, project.dir], ...entry, assistant: true };
  project.write('switchboard.config.json', { ...PATIENT, mcpServers: { kid } });
  const claude = createPrintingClaude(project);
  const options = { args: ['assistant', 'serve', 'kid'], env: claude.env };
  const env = { ...claude.env, CLAUDE_DOES: 'hang' };
  const host = await RawHost.connect(project, { ...options, env });
  void host.callTool('natural_language', { query: 'wait' });
  expect(await eventually(() => claude.calls().length === 1)).toBe(true);
  const folder = claude.calls()[0]?.cwd ?? '';
  const isRunning = () => processesWith(join(project.dir, 'bin/claude')).length > 0;
  expect(isRunning()).toBe(true);
  return { project, claude, options, host, folder, isRunning };
}

test('the next assistant cleans up after a killed one', async () => {
  const { project, options, host, folder, isRunning } = await startAsking();
  host.process.kill('SIGKILL');
  await host.exited;
  expect([isRunning(), existsSync(folder)]).toEqual([true, true]);
  const next = await RawHost.connect(project, options);
  expect(await eventually(() => !isRunning())).toBe(true);
  await next.callTool('natural_language', { query: 'hello' });
  expect(existsSync(folder)).toBe(false);
});

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'an assistant stopped with %s leaves neither claude nor its folder',
  async (signal) => {
    const { host, folder, isRunning } = await startAsking();
    host.process.kill(signal);
    await host.exited;
    expect(await eventually(() => !isRunning())).toBe(true);
    expect(existsSync(folder)).toBe(false);
  },
);
