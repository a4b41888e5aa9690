// Whole runs with the real engine, whose model is ours and does what a script says.
import { execFile as execFileWith, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { AgentServer } from '../../src/agents/agent.ts';
import { attachServer } from '../../src/agents/servers/attach.ts';
import { SwitchboardError } from '../../src/base/errors.ts';
import { attachedServer, plainAgent, watchedRun } from '../support/agents.ts';
import { eventually, isAlive, processesWith } from '../support/processes.ts';
import { FIXTURES, ROOT } from '../support/project.ts';
import { startEverything } from '../support/published-http.ts';
import { hasSandbox, realEngine, WRITES } from '../support/real-engine.ts';
import { testServer } from '../support/servers.ts';

const execFile = promisify(execFileWith);
const MEMORY = join(ROOT, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js');
const PATCH = '*** Begin Patch\n*** Add File: patched.txt\n+by a patch\n*** End Patch\n';
const DONE = { kind: 'says', text: 'done' } as const;

const memoryServer = (file: string) =>
  attachedServer({ cmd: process.execPath, args: [MEMORY], env: { MEMORY_FILE_PATH: file } });

describe('a run', () => {
  test('runs a command, applies a patch, calls a server and says what came of it', async () => {
    const { engine, model, cwd, processes } = await realEngine({
      script: [
        { kind: 'calls', tool: 'exec_command', args: { cmd: 'echo written > by-command.txt' } },
        { kind: 'patches', patch: PATCH },
        {
          kind: 'calls',
          namespace: 'mcp__memory',
          tool: 'create_entities',
          args: { entities: [{ name: 'one', entityType: 'thing', observations: [] }] },
        },
        { kind: 'says', text: 'FINAL: all three', pieces: 3 },
      ],
    });
    const run = watchedRun(cwd, {
      agent: plainAgent({
        instructions: 'You are MARKER-OF-INSTRUCTIONS.',
        run: { sandbox: WRITES, builtins: { apply_patch: true } },
      }),
      servers: [memoryServer(join(cwd, 'memory.jsonl'))],
    });
    expect(await engine.run(run)).toEqual({ ok: true, output: 'FINAL: all three' });
    expect(readFileSync(join(cwd, 'by-command.txt'), 'utf8')).toBe('written\n');
    expect(readFileSync(join(cwd, 'patched.txt'), 'utf8')).toBe('by a patch\n');
    expect(readFileSync(join(cwd, 'memory.jsonl'), 'utf8')).toContain('"one"');
    const [first] = model.requests[0]?.body.input ?? [];
    expect(first).toMatchObject({ role: 'developer' });
    expect(JSON.stringify(first)).toContain('You are MARKER-OF-INSTRUCTIONS.');
    expect(run.events).toEqual([
      { kind: 'starting', text: 'starting Some Agent' },
      { kind: 'step', text: 'running: echo written > by-command.txt' },
      { kind: 'step', text: `editing ${join(cwd, 'patched.txt')}` },
      { kind: 'step', text: 'calling memory.create_entities' },
      { kind: 'text', text: 'FINAL:' },
      { kind: 'text', text: ' all t' },
      { kind: 'text', text: 'hree' },
      { kind: 'message', text: 'FINAL: all three' },
    ]);
    expect(processes.filter(isAlive)).toEqual([]);
    expect(readdirSync(cwd).sort()).toEqual(['by-command.txt', 'memory.jsonl', 'patched.txt']);
  });

  test.each([
    ['that begins like an option', '--help -c model="x"'],
    ['with quotes, line ends and NUL', 'it\'s "so"\n\\n $(id) `id` a\u0000b\u2028'],
    ['of a megabyte', 'word '.repeat(1 << 20).slice(0, 1 << 20)],
  ])('has a task %s reach the model exactly', async (_what, task) => {
    const { engine, model, cwd } = await realEngine({ script: [DONE] });
    expect(await engine.run(watchedRun(cwd, { task }))).toEqual({ ok: true, output: 'done' });
    const content = [{ type: 'input_text', text: task }];
    expect(model.requests[0]?.body.input.at(-1)).toMatchObject({ role: 'user', content });
  });

  test('with a task that was cut in the middle of a character begins all the same', async () => {
    const { engine, model, cwd } = await realEngine({ script: [DONE] });
    const run = watchedRun(cwd, { task: 'a smile: \ud83d' });
    expect(await engine.run(run)).toEqual({ ok: true, output: 'done' });
    const content = [{ type: 'input_text', text: 'a smile: \ufffd' }];
    expect(model.requests[0]?.body.input.at(-1)).toMatchObject({ role: 'user', content });
  });

  test('with a task that is longer than the engine takes fails with its limit', async () => {
    const { engine, model, cwd } = await realEngine({ script: [DONE] });
    const { ok, output } = await engine.run(watchedRun(cwd, { task: 'x'.repeat((1 << 20) + 1) }));
    expect(ok).toBe(false);
    expect(output).toContain('1048576');
    expect(model.requests).toEqual([]);
  });

  test('with a message beyond every limit is cut, with a note', async () => {
    const text = 'm'.repeat(20 << 20);
    const { engine, cwd } = await realEngine({
      script: [{ kind: 'says', text, pieces: 40 }],
      settings: { outputMaxChars: 1_000 },
    });
    const { ok, output } = await engine.run(watchedRun(cwd));
    expect(ok).toBe(true);
    expect(output).toBe(
      `${text.slice(0, 1_000)}\n[message too long; cut off after 1000 characters]`,
    );
  });

  test('reads the instructions that lie in its folder, also where that is not trusted', async () => {
    const { engine, model, cwd, project } = await realEngine({ script: [DONE] });
    project.write('work/AGENTS.md', 'MARKER-OF-THE-FOLDER');
    const agent = plainAgent({ run: { sandbox: 'danger-full-access' } });
    await engine.run(watchedRun(cwd, { agent }));
    expect(model.sent).toContain('MARKER-OF-THE-FOLDER');
  });
});

describe.runIf(hasSandbox())('what the sandbox refuses', () => {
  const run = (cmd: string, more = {}) =>
    ({ kind: 'calls', tool: 'exec_command', args: { cmd, ...more } }) as const;
  const escalated = { sandbox_permissions: 'require_escalated', justification: 'because' };
  const notesOf = ({ events }: ReturnType<typeof watchedRun>) =>
    events.filter(({ kind }) => kind === 'note').map(({ text }) => text);

  test.each(['never', 'on-request'] as const)(
    'is noted, with the approval policy %s',
    async (approvals) => {
      const { engine, cwd } = await realEngine({
        script: [
          run('touch a.txt'),
          run('echo x > b.txt; true'),
          { kind: 'patches', patch: PATCH },
          run('touch c.txt', escalated),
          run('cat nowhere'),
          DONE,
        ],
      });
      const agent = plainAgent({ run: { approvals, builtins: { apply_patch: true } } });
      const watched = watchedRun(cwd, { agent });
      expect(await engine.run(watched)).toEqual({ ok: true, output: 'done' });
      const patch =
        approvals === 'never'
          ? 'The read-only sandbox blocked changes to patched.txt.'
          : 'Not approved: changes to patched.txt.';
      expect(notesOf(watched)).toEqual([
        "The read-only sandbox blocked `touch a.txt`: touch: cannot touch 'a.txt': Read-only file system.",
        expect.stringMatching(
          /^The read-only sandbox blocked `echo x > b\.txt; true`: .*b\.txt: Read-only file system\.$/,
        ),
        patch,
        'Not approved: `touch c.txt`.',
      ]);
      expect(readdirSync(cwd)).toEqual([]);
    },
  );

  test('is noted only where it may not write', async () => {
    const { engine, cwd } = await realEngine({
      script: [run('touch a.txt'), run('touch /usr/a.txt'), DONE],
    });
    const agent = plainAgent({ run: { sandbox: 'workspace-write' } });
    const watched = watchedRun(cwd, { agent });
    await engine.run(watched);
    expect(notesOf(watched)).toEqual([
      expect.stringContaining('The workspace-write sandbox blocked `touch /usr/a.txt`: '),
    ]);
  });
});

test('a run goes on without servers that do not start, and still waits for the others', async () => {
  const { engine, model, cwd } = await realEngine({ script: [DONE] });
  const slow = `setTimeout(() => import(${JSON.stringify(MEMORY)}), 1500)`;
  const run = watchedRun(cwd, {
    servers: [
      attachedServer({ key: 'broken', cmd: '/nowhere/server' }),
      attachedServer({ key: 'slow', cmd: process.execPath, args: ['-e', slow] }),
      attachedServer({ key: 'dies', cmd: process.execPath, args: ['-e', 'process.exit(3)'] }),
    ],
  });
  expect(await engine.run(run)).toEqual({ ok: true, output: 'done' });
  const names = model.requests[0]?.body.tools?.map(({ name }) => name);
  expect(names).toContain('mcp__slow');
  const notes = run.events.filter(({ kind }) => kind === 'note').map(({ text }) => text);
  expect(notes).toEqual([
    expect.stringMatching(/^The agent ran without server "broken", which failed to start: No such/),
    expect.stringMatching(
      /^The agent ran without server "dies", which failed to start: handshaking/,
    ),
  ]);
});

test('runs side by side work, also when the engine is used for the first time', async () => {
  const { engine, cwd, processes } = await realEngine({ script: [DONE] });
  const runs = Array.from({ length: 4 }, () => engine.run(watchedRun(cwd)));
  expect(await Promise.all(runs)).toEqual(runs.map(() => ({ ok: true, output: 'done' })));
  expect(processes.filter(isAlive)).toEqual([]);
});

test('Switchboards that use the engine for the first time at once do not disturb each other', async () => {
  const { binary, project, cwd } = await realEngine({ script: [DONE] });
  const program = join(FIXTURES, 'engine', 'runs-agent.ts');
  const runs = Array.from({ length: 6 }, async () => {
    const args = ['--import', 'tsx', program, binary, cwd];
    const { stdout } = await execFile(process.execPath, args, { cwd: ROOT, env: project.env });
    return stdout;
  });
  const results = await Promise.all(runs);
  expect(results).toEqual(runs.map(() => '{"ok":true,"output":"done"}'));
});

describe('a run that fails', () => {
  test.each([
    [500, 'We’re currently experiencing high demand, which may cause temporary errors.'],
    [401, /^unexpected status 401 Unauthorized: no such key, url: http:\S+$/],
    [404, /^unexpected status 404 Not Found: no such key, url: http:\S+$/],
  ])('because the model answers %i says so in one sentence', async (status, words) => {
    const { engine, cwd, processes } = await realEngine({
      script: [{ kind: 'fails', status, message: 'no such key' }],
    });
    const { ok, output } = await engine.run(watchedRun(cwd));
    expect(ok).toBe(false);
    expect(output).toMatch(words);
    expect(processes.filter(isAlive)).toEqual([]);
  });

  test('because a server that the agent requires does not start says which and why, and the model is not asked', async () => {
    const { engine, model, cwd } = await realEngine({ script: [DONE] });
    const servers = [attachedServer({ key: 'broken', cmd: '/nowhere/server', isRequired: true })];
    const result = await engine.run(watchedRun(cwd, { servers }));
    expect(result).toEqual({
      ok: false,
      output:
        'Server "broken", which the agent requires, failed to start: No such file or directory (os error 2).' +
        ' Run: switchboard agents agent_some_agent --check',
    });
    expect(model.requests).toEqual([]);
  });

  test('because the engine was killed says so, and its commands are gone with it', async () => {
    const seconds = `${986_000 + Math.floor(Math.random() * 999)}`;
    const cmd = `trap "" HUP TERM; sleep ${seconds}; sleep ${seconds}`;
    const { engine, cwd, processes } = await realEngine({
      script: [{ kind: 'calls', tool: 'exec_command', args: { cmd, yield_time_ms: 30_000 } }],
    });
    const agent = plainAgent({ run: { sandbox: 'danger-full-access' } });
    const running = engine.run(watchedRun(cwd, { agent }));
    const isSleeping = () => processesWith(`sleep ${seconds}`).length > 0;
    expect(await eventually(isSleeping)).toBe(true);
    process.kill(processes[0] ?? 0, 'SIGKILL');
    const { ok, output } = await running;
    expect(ok).toBe(false);
    expect(output).toMatch(/^Codex was stopped by SIGKILL during the run\.$/);
    expect(processesWith(`sleep ${seconds}`)).toEqual([]);
  });

  test('because the engine’s configuration cannot be read says where', async () => {
    const { engine, cwd, codexHome } = await realEngine({
      script: [DONE],
      keys: 'this is = wrong',
    });
    const { ok, output } = await engine.run(watchedRun(cwd));
    expect(ok).toBe(false);
    expect(output).toContain(`${join(codexHome, 'config.toml')}:4:6: key with no value`);
  });

  test('because the engine’s folder is not there says so', async () => {
    const settings = { codexHome: '/nowhere/codex' };
    const { engine, cwd } = await realEngine({ script: [DONE], settings });
    await expect(engine.run(watchedRun(cwd))).rejects.toMatchObject({
      code: 'ENGINE_FAILED',
      message: expect.stringContaining('/nowhere/codex') as string,
    });
  });

  test('because there is no such provider says so', async () => {
    const { engine, cwd } = await realEngine({ script: [DONE] });
    const agent = plainAgent({ run: { provider: 'anthropic' } });
    await expect(engine.run(watchedRun(cwd, { agent }))).rejects.toMatchObject({
      code: 'ENGINE_FAILED',
      message: expect.stringContaining('Model provider `anthropic` not found') as string,
    });
  });
});

describe('calling a run off', () => {
  const reason = new SwitchboardError('CANCELLED', 'enough');

  test.each([
    ['in its sandbox', 'workspace-write'],
    ['without a sandbox', 'danger-full-access'],
  ] as const)(
    'ends commands %s that do not want to end, and leaves nothing',
    async (_what, sandbox) => {
      if (sandbox === 'workspace-write' && !hasSandbox()) return;
      const seconds = `${987_000 + Math.floor(Math.random() * 999)}`;
      const cmd = `trap "" HUP TERM INT; nohup sleep ${seconds} & sleep ${seconds}; sleep ${seconds}`;
      const { engine, cwd, processes } = await realEngine({
        script: [{ kind: 'calls', tool: 'exec_command', args: { cmd, yield_time_ms: 30_000 } }],
      });
      const run = watchedRun(cwd, {
        agent: plainAgent({ run: { sandbox, approvals: 'never' } }),
        servers: [memoryServer(join(cwd, 'memory.jsonl'))],
      });
      const running = engine.run(run);
      const isSleeping = () => processesWith(`sleep ${seconds}`).length >= 2;
      expect(await eventually(isSleeping)).toBe(true);
      run.cancellation.cancel(reason);
      await expect(running).rejects.toBe(reason);
      expect(processesWith(`sleep ${seconds}`)).toEqual([]);
      expect(processesWith(cwd)).toEqual([]);
      expect(processes.filter(isAlive)).toEqual([]);
      expect(readdirSync(cwd)).toEqual([]);
    },
  );

  test('while the model does not answer', async () => {
    const { engine, model, cwd, processes } = await realEngine({ script: [{ kind: 'hangs' }] });
    const run = watchedRun(cwd);
    const running = engine.run(run);
    expect(await eventually(() => model.requests.length === 1)).toBe(true);
    run.cancellation.cancel(reason);
    await expect(running).rejects.toBe(reason);
    expect(processes.filter(isAlive)).toEqual([]);
  });
});

test('the model is asked only when slow servers are there, too', async () => {
  const { engine, model, cwd } = await realEngine({ script: [DONE] });
  const slow = join(FIXTURES, 'servers', 'starts-slowly.mjs');
  const servers = [attachedServer({ key: 'slow', cmd: process.execPath, args: [slow, '1500'] })];
  expect(await engine.run(watchedRun(cwd, { servers }))).toMatchObject({ ok: true });
  const names = model.requests[0]?.body.tools?.map(({ name }) => name);
  expect(names).toContain('mcp__slow');
});

describe('a server’s own limits hold', () => {
  test('for its tools', async () => {
    const args = { ms: 100_000 };
    const { engine, model, cwd } = await realEngine({
      script: [{ kind: 'calls', namespace: 'mcp__box', tool: 'wait', args }, DONE],
    });
    const { command, args: program } = testServer('toolbox');
    const box = { key: 'box', cmd: command, args: program, toolTimeoutSec: 0.5 };
    const run = watchedRun(cwd, { servers: [attachedServer(box)] });
    expect(await engine.run(run)).toEqual({ ok: true, output: 'done' });
    expect(JSON.stringify(model.requests[1]?.body.input.at(-1))).toContain('timed out');
  });

  test('for its start', async () => {
    const { engine, cwd } = await realEngine({ script: [DONE] });
    const { command, args } = testServer('starts-slowly', '100000');
    const slow = { key: 'slow', cmd: command, args, startupTimeoutSec: 0.5, isRequired: true };
    const { ok, output } = await engine.run(watchedRun(cwd, { servers: [attachedServer(slow)] }));
    expect(ok).toBe(false);
    expect(output).toMatch(/slow.*timed out|timed out.*slow/);
  });
});

test('a server that is reached over HTTP is used as well', async () => {
  const server = await startEverything('streamableHttp');
  onTestFinished(() => server.stop());
  const { engine, model, cwd } = await realEngine({
    script: [{ kind: 'calls', namespace: 'mcp__web', tool: 'echo', args: { message: 'HI' } }, DONE],
  });
  const headers = { 'X-Some': 'value' };
  const servers = [attachedServer({ key: 'web', cmd: undefined, url: server.url, headers })];
  expect(await engine.run(watchedRun(cwd, { servers }))).toEqual({ ok: true, output: 'done' });
  expect(JSON.stringify(model.requests[1]?.body.input.at(-1))).toContain('Echo: HI');
});

test('when Switchboard itself is killed, engine and commands go with it', async () => {
  const seconds = `${985_000 + Math.floor(Math.random() * 999)}`;
  const cmd = `trap "" HUP TERM; sleep ${seconds}; sleep ${seconds}`;
  const { binary, project, cwd } = await realEngine({
    script: [{ kind: 'calls', tool: 'exec_command', args: { cmd, yield_time_ms: 30_000 } }],
  });
  const program = join(FIXTURES, 'engine', 'runs-agent.ts');
  const killed = spawn(process.execPath, ['--import', 'tsx', program, binary, cwd], {
    cwd: ROOT,
    env: project.env,
    stdio: 'ignore',
  });
  const isSleeping = () => processesWith(`sleep ${seconds}`).length > 0;
  expect(await eventually(isSleeping)).toBe(true);
  killed.kill('SIGKILL');
  expect(await eventually(() => !isSleeping())).toBe(true);
  expect(await eventually(() => processesWith(project.dir).length === 0)).toBe(true);
});

test('a server over HTTP gets the headers that it is configured with, and nothing repeats them', async () => {
  const seen: unknown[] = [];
  const server = createServer(({ headers, url }, response) => {
    seen.push(headers.authorization);
    // As servers do: the token without the word before it, and a part of the address.
    const token = headers.authorization?.replace('Bearer ', '');
    response.writeHead(403).end(`no: ${token} ${url?.replace(/.*key=/, '')}`);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { engine, cwd, log } = await realEngine({ script: [DONE] });
  const web: AgentServer = {
    ...attachedServer({ key: 'web', cmd: undefined }),
    url: `http://127.0.0.1:${port}/mcp?key=\${KEY}`,
    headers: { Authorization: 'Bearer value-of-a-header' },
    origin: '/nowhere/agent.toml',
    isInjected: false,
  };
  const env = { KEY: 'value-in-an-address' };
  const folders = { project: cwd, homeFolder: cwd };
  const nothing = { selfEnvironment: {}, program: undefined };
  const servers = [attachServer(web, undefined, { ...folders, env, environment: {}, ...nothing })];
  const run = watchedRun(cwd, { servers });
  const { output } = await engine.run(run);
  expect(run.events.find(({ kind }) => kind === 'note')?.text).toContain('server "web"');
  expect(seen).toContain('Bearer value-of-a-header');
  const told = [output, ...log.lines, ...run.events.map(({ text }) => text)].join('\n');
  expect(told).not.toContain('value-of-a-header');
  expect(told).not.toContain('value-in-an-address');
  expect(told).toContain('no: ***');
});
