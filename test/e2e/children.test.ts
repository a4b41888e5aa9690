// Child servers: how they are started, spoken to and survived.
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect } from 'vitest';
import { wholeLines } from '../support/lines.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { configWith, createProject, FIXTURES, type Project } from '../support/project.ts';
import { type Answer, RawHost, textOf, toolsOf } from '../support/raw-host.ts';
import { MOCK_CHILD, testServer } from '../support/servers.ts';
import { slow, test } from '../support/slow.ts';

interface Surroundings {
  readonly pid: number;
  readonly cwd: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

async function whereIs(host: RawHost, child: string): Promise<Surroundings> {
  return JSON.parse(textOf(await host.call(child, 'where_am_i'))) as Surroundings;
}

/** A recording server's file, and the messages in it. */
function recordingIn(project: Project) {
  const file = join(project.dir, 'recording.txt');
  return {
    file,
    wasStarted: () => existsSync(file),
    messages: () =>
      wholeLines(file)
        .filter((line) => !line.startsWith('started'))
        .map((line) => JSON.parse(line) as { id?: number; method: string; params: object }),
  };
}

/** The text of a failed call, without what differs from one machine to the next. */
function failureOf(answer: Answer, project: Project): string {
  expect(answer.result?.isError).toBe(true);
  return textOf(answer)
    .replaceAll(project.dir, '<project>')
    .replaceAll(FIXTURES, '<fixtures>')
    .replaceAll(process.execPath, '<node>');
}

describe('a server’s environment', () => {
  test('is ours, overridden by its entry', async () => {
    const env = { ADDED: 'by the entry', BOTH: 'by the entry', NUMBER: 8080, FLAG: true };
    const project = createProject(configWith({ one: { ...testServer('toolbox'), env } }));
    const host = await RawHost.connect(project, { env: { OURS: 'inherited', BOTH: 'inherited' } });
    expect((await whereIs(host, 'one')).env).toMatchObject({
      OURS: 'inherited',
      ADDED: 'by the entry',
      BOTH: 'by the entry',
      NUMBER: '8080',
      FLAG: 'true',
      PATH: process.env['PATH'],
    });
  });

  test('can be minimal, for one server or for all', async () => {
    const toolbox = { ...testServer('toolbox'), env: { ADDED: 'by the entry' } };
    const project = createProject(
      configWith(
        { minimal: toolbox, inherit: { ...toolbox, environment: 'inherit' } },
        { environment: 'minimal' },
      ),
    );
    const host = await RawHost.connect(project, { env: { OURS: 'inherited' } });
    const minimal = await whereIs(host, 'minimal');
    expect(minimal.env).toMatchObject({ ADDED: 'by the entry', HOME: project.env['HOME'] });
    expect(minimal.env).not.toHaveProperty('OURS');
    expect((await whereIs(host, 'inherit')).env).toMatchObject({ OURS: 'inherited' });
  });

  test('a child file’s command also has arguments and an environment', async () => {
    const { command, args } = testServer('toolbox', 'first', 'second argument');
    const project = createProject({
      'mcps/one/.mcp.json': { name: 'one', command: { cmd: command, args, env: { ADDED: 'x' } } },
    });
    const where = await whereIs(await RawHost.connect(project), 'one');
    expect(where.args).toEqual(['first', 'second argument']);
    expect(where.env).toMatchObject({ ADDED: 'x' });
  });

  test('never uses a shell', async () => {
    const odd = ['$(touch pwned)', '; touch pwned', '`touch pwned`', '*', "it's", ''];
    const project = createProject(configWith({ one: testServer('toolbox', ...odd) }));
    expect((await whereIs(await RawHost.connect(project), 'one')).args).toEqual(odd);
    expect(existsSync(join(project.dir, 'pwned'))).toBe(false);
  });
});

describe('a server’s folder', () => {
  test('is the project, its cwd, or its child file’s folder', async () => {
    const { command, args } = testServer('toolbox');
    const project = createProject({
      ...configWith({
        plain: { command, args },
        relative: { command, args, cwd: 'sub/folder' },
      }),
      'mcps/own/.mcp.json': { name: 'own', command: { cmd: command, args } },
    });
    mkdirSync(join(project.dir, 'sub/folder'), { recursive: true });
    const host = await RawHost.connect(project);
    const dir = realpathSync(project.dir);
    expect((await whereIs(host, 'plain')).cwd).toBe(dir);
    expect((await whereIs(host, 'relative')).cwd).toBe(join(dir, 'sub/folder'));
    expect((await whereIs(host, 'own')).cwd).toBe(join(dir, 'mcps/own'));
  });

  test('contains its program if the child file has no command', async () => {
    const toolbox = JSON.stringify(join(FIXTURES, 'servers/toolbox.mjs'));
    const project = createProject({
      'mcps/built/.mcp.json': { name: 'built' },
      'mcps/built/dist/index.js': `import(${toolbox});\n`,
    });
    const host = await RawHost.connect(project);
    expect((await whereIs(host, 'built')).cwd).toBe(join(realpathSync(project.dir), 'mcps/built'));
  });
});

describe('variables in a command', () => {
  test('are expanded when the server starts, with defaults', async () => {
    const { command, args } = testServer(
      'toolbox',
      '${SET}',
      '${env:SET}',
      '${UNSET:-default}',
      '$${SET}',
      '$SET',
    );
    const entry = { command: '${NODE}', args, env: { COPY: 'got ${SET}' } };
    const project = createProject(configWith({ one: entry }));
    const host = await RawHost.connect(project, { env: { SET: 'value', NODE: command } });
    const where = await whereIs(host, 'one');
    expect(where.args).toEqual(['value', 'value', 'default', '${SET}', '$SET']);
    expect(where.env).toMatchObject({ COPY: 'got value' });
  });

  test('that are not set affect only their own server, before anything is started', async () => {
    const project = createProject();
    const { file, wasStarted } = recordingIn(project);
    const unset = { ...testServer('recording', file), env: { TOKEN: '${NO_SUCH_TOKEN}' } };
    project.write('switchboard.config.json', { mcpServers: { unset, mock: MOCK_CHILD } });
    const host = await RawHost.connect(project);
    expect(failureOf(await host.introspect('unset'), project)).toMatchInlineSnapshot(
      `"Server "unset" needs the environment variable NO_SUCH_TOKEN, which is not set (env.TOKEN in <project>/switchboard.config.json). Set it in the environment the host starts Switchboard in, or use \${NO_SUCH_TOKEN:-default}."`,
    );
    expect(wasStarted()).toBe(false);
    expect((await host.call('mock', 'click')).result).toMatchObject({ ok: true });
  });
});

describe('a server that cannot start explains why', () => {
  test.each([
    {
      why: 'there is no such program',
      entry: { command: 'no-such-program-anywhere' },
      says: 'Server "broken" did not start: no-such-program-anywhere was not found. Install it, or set its full path as "command" in <project>/switchboard.config.json: hosts often have a shorter PATH than your terminal.',
    },
    {
      why: 'its command contains arguments, which are not repeated',
      entry: { command: 'npx -y foo --key sk-canary-123456' },
      says: 'Server "broken" did not start: its command contains spaces, and there is no such program. Set "command" to only "npx", and put each argument in "args" in <project>/switchboard.config.json.',
    },
    {
      why: 'its command contains arguments behind a path',
      entry: { command: `${process.execPath} server.js` },
      says: 'Server "broken" did not start: its command contains spaces, and there is no such program. Set "command" to only "<node>", and put each argument in "args" in <project>/switchboard.config.json.',
    },
    {
      why: 'there is no such file in a folder with a space',
      entry: { command: '/no such/program' },
      says: 'Server "broken" did not start: /no such/program was not found. Check "command" in <project>/switchboard.config.json.',
    },
    {
      why: 'it has both command and url',
      entry: { ...testServer('toolbox'), url: 'https://example.com' },
      says: 'Server "broken" has both a "command" and a "url". Remove one of them in <project>/switchboard.config.json.',
    },
    {
      why: 'it contains a placeholder of VS Code',
      entry: { ...testServer('toolbox'), env: { TOKEN: '${input:token}' } },
      says: 'Server "broken" uses ${input:token}, which only the original host can expand (env.TOKEN in <project>/switchboard.config.json). Use an environment variable such as ${API_KEY} instead, and set it in the environment the host starts Switchboard in.',
    },
    {
      why: 'its program is not executable',
      entry: { command: './not-executable' },
      says: 'Server "broken" did not start: ./not-executable is not executable. Make it executable, or start it with its interpreter: "command" in <project>/switchboard.config.json.',
    },
    {
      why: 'its folder is missing',
      entry: { ...testServer('toolbox'), cwd: 'not/there' },
      says: 'Server "broken" did not start: its working directory (cwd) <project>/not/there does not exist. Check "cwd" in <project>/switchboard.config.json.',
    },
    {
      why: 'it has neither command nor url',
      entry: { description: 'nothing to run' },
      says: 'Server "broken" has neither a "command" nor a "url". Add "command" or "url" in <project>/switchboard.config.json.',
    },
    {
      why: 'it ends at once',
      entry: { command: 'sh', args: ['-c', 'echo no licence >&2; exit 3'] },
      says: "Child MCP broken exited with code 3 while starting. It restarts the next time it's used. Its last output:\nno licence",
    },
    {
      why: 'it is killed',
      entry: { command: 'sh', args: ['-c', 'kill -9 $$'] },
      says: "Child MCP broken was killed (SIGKILL) while starting. It restarts the next time it's used. It printed nothing on stderr.",
    },
    {
      why: 'it refuses the handshake',
      entry: testServer('refuses-handshake'),
      says: 'Server "broken" refused the handshake: No licence found (-32050). Run: switchboard doctor broken',
    },
  ])('$why', async ({ entry, says }) => {
    const project = createProject({
      ...configWith({ broken: entry, mock: MOCK_CHILD }),
      'not-executable': '#!/bin/sh\n',
    });
    const host = await RawHost.connect(project);
    expect(failureOf(await host.introspect('broken'), project)).toBe(says);
    expect((await host.call('mock', 'click')).result).toMatchObject({ ok: true });
  });

  test('a program whose name contains a space starts', async () => {
    const project = createProject(configWith({ spaced: { command: './my server' } }));
    const { command, args } = testServer('toolbox');
    const script = project.write('my server', `#!/bin/sh\nexec '${command}' ${args.join(' ')}\n`);
    chmodSync(script, 0o755);
    const host = await RawHost.connect(project);
    expect(textOf(await host.call('spaced', 'echo', { a: 1 }))).toBe('{"a":1}');
  });

  slow('it does not answer within childSpawnMs', async () => {
    const project = createProject(
      configWith(
        { mute: { command: 'sh', args: ['-c', 'echo getting ready >&2; exec sleep 600'] } },
        { timeouts: { childSpawnMs: 3_000 } },
      ),
    );
    const host = await RawHost.connect(project);
    expect(failureOf(await host.introspect('mute'), project)).toMatchInlineSnapshot(`
      "Server "mute" did not respond to the handshake within 3000 ms (command: sh -c echo getting ready >&2; exec sleep 600). If it needs longer to start, raise timeouts.childSpawnMs (server declared in <project>/switchboard.config.json). It printed no JSON with either newline or content-length framing. Its last output:
      getting ready"
    `);
  });
});

describe('a slow start', () => {
  slow('through npx may exceed childSpawnMs’s default', async () => {
    const { command, args } = testServer('starts-slowly', '9000');
    const words = [command, ...args].map((word) => `'${word}'`).join(' ');
    const project = createProject({
      ...configWith({ fetched: { command: 'npx', args: ['-y', 'some-server'] } }),
      'bin/npx': `#!/bin/sh\nexec ${words}\n`,
    });
    chmodSync(join(project.dir, 'bin/npx'), 0o755);
    const path = `${join(project.dir, 'bin')}${delimiter}${project.env['PATH']}`;
    const host = await RawHost.connect(project, { env: { PATH: path } });
    expect(textOf(await host.call('fetched', 'echo', { a: 1 }))).toBe('{"a":1}');
  });

  slow('through npx times out if childSpawnMs is set', async () => {
    const project = createProject({
      ...configWith(
        { fetched: { command: './npx', args: ['-y', 'some-server'] } },
        { timeouts: { childSpawnMs: 300 } },
      ),
      npx: '#!/bin/sh\nexec sleep 600\n',
    });
    chmodSync(join(project.dir, 'npx'), 0o755);
    const host = await RawHost.connect(project);
    expect(failureOf(await host.introspect('fetched'), project)).toContain(
      'did not respond to the handshake within 300 ms',
    );
  });
});

const WHO_WE_ARE = { name: 'switchboard', version: expect.stringMatching(/^\d+\.\d+\.\d+/) };

/** A handshake, a call and a list, with ids from this one on. */
const greetingAndCall = (id: number) => [
  {
    jsonrpc: '2.0',
    id,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {
        roots: { listChanged: true },
        sampling: {},
        elicitation: { form: {}, url: {} },
      },
      clientInfo: WHO_WE_ARE,
    },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  {
    jsonrpc: '2.0',
    id: id + 1,
    method: 'tools/call',
    params: { name: 'other', arguments: { a: 1 } },
  },
  { jsonrpc: '2.0', id: id + 2, method: 'tools/list', params: {} },
];

describe('the handshake with a server', () => {
  async function messagesOf(settings: object) {
    const project = createProject();
    const { file, messages } = recordingIn(project);
    const rec = { ...testServer('recording', file), ...settings };
    project.write('switchboard.config.json', { mcpServers: { rec } });
    const host = await RawHost.connect(project);
    await host.call('rec', 'other', { a: 1 });
    await host.introspect('rec');
    return messages();
  }

  test('comes after the probe, and identifies us', async () => {
    expect(await messagesOf({})).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'server/discover',
        params: {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
            'io.modelcontextprotocol/clientInfo': WHO_WE_ARE,
          },
        },
      },
      ...greetingAndCall(2),
    ]);
  });

  test('comes first if the era is known, from its settings or the last start', async () => {
    const protocolVersion = '2025-11-25';
    expect(await messagesOf({ protocolVersion })).toEqual(greetingAndCall(1));

    const project = createProject();
    const { file, messages } = recordingIn(project);
    const rec = testServer('recording', file);
    project.write('switchboard.config.json', { mcpServers: { rec } });
    for (const run of ['first', 'second']) {
      const host = await RawHost.connect(project);
      await host.call('rec', 'other', { run });
      await host.close();
    }
    const openings = messages().filter(({ method }) => /initialize$|discover/.test(method));
    expect(openings.map(({ method }) => method)).toEqual([
      'server/discover',
      'initialize',
      'initialize',
    ]);
  });

  test('offers the revision that protocolVersion names', async () => {
    const [initialize] = await messagesOf({ protocolVersion: '2024-11-05' });
    expect(initialize?.params).toMatchObject({ protocolVersion: '2024-11-05' });
  });

  test.each(['2024-10-07', '2024-11-05', '2025-03-26', '2025-06-18'])(
    'accepts a server that answers with revision %s',
    async (revision) => {
      const project = createProject(configWith({ old: testServer('revision', revision) }));
      const host = await RawHost.connect(project);
      expect(textOf(await host.call('old', 'echo', { a: 1 }))).toBe('{"a":1}');
    },
  );

  test.each([{}, { name: 'mock', capabilities: {} }, { protocolVersion: null }])(
    'accepts a server that answers %j, without a revision',
    async (greeting) => {
      const project = createProject();
      const script = project.write(
        'mock.mjs',
        `import { createInterface } from 'node:readline';
         for await (const line of createInterface({ input: process.stdin })) {
           const { id, method, params } = JSON.parse(line);
           const results = {
             initialize: ${JSON.stringify(greeting)},
             'tools/list': { tools: [{ name: 'click', description: 'Click a selector' }] },
             'tools/call': { ok: true, name: params?.name, args: params?.arguments },
           };
           const result = results[method];
           const error = { code: -32601, message: 'Method not found: ' + method };
           const answer = result ? { result } : { error };
           if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
         }`,
      );
      const mock = { command: process.execPath, args: [script] };
      project.write('switchboard.config.json', { mcpServers: { mock } });
      const host = await RawHost.connect(project);
      const { result } = await host.call('mock', 'click', { selector: '#a' });
      expect(result).toMatchObject({ ok: true, name: 'click', args: { selector: '#a' } });
    },
  );

  test('refuses an unknown revision, and lists the known ones', async () => {
    const project = createProject(configWith({ odd: testServer('revision', '2031-01-01') }));
    const host = await RawHost.connect(project);
    expect(failureOf(await host.introspect('odd'), project)).toMatchInlineSnapshot(
      `"Server "odd" uses MCP revision "2031-01-01", which Switchboard doesn't support. Supported: 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05, 2024-10-07. Update the server or Switchboard."`,
    );
    expect(
      await eventually(
        () => processesWith(join(FIXTURES, 'servers/revision.mjs 2031')).length === 0,
      ),
    ).toBe(true);
  });
});

describe('framing', () => {
  test('sends requests as lines without headers', async () => {
    const project = createProject();
    const { file } = recordingIn(project);
    project.write('switchboard.config.json', {
      mcpServers: { rec: testServer('recording', file) },
    });
    await (await RawHost.connect(project)).call('rec', 'other');
    const lines = readFileSync(file, 'utf8').trim().split('\n').slice(1);
    for (const line of lines) expect(line).toMatch(/^\{"jsonrpc":"2.0",.*\}$/);
  });

  slow(
    'a server that needs headers works at its first use, and never gets both framings',
    async () => {
      const project = createProject();
      const log = join(project.dir, 'log.txt');
      const script = project.write(
        'notes.mjs',
        `import { appendFileSync } from 'node:fs';
       const got = [];
       process.stdin.on('data', (chunk) => got.push(String(chunk)));
       process.on('exit', () => {
         const hasHeaders = got.join('').includes('Content-Length');
         const hasLines = /^\\{/.test(got.join(''));
         appendFileSync(${JSON.stringify(log)}, JSON.stringify({ hasHeaders, hasLines }) + '\\n');
       });
       await import(${JSON.stringify(testServer('only-headers').args[0])});`,
      );
      project.write('switchboard.config.json', {
        mcpServers: { old: { command: process.execPath, args: [script] } },
      });
      const host = await RawHost.connect(project);
      expect(textOf(await host.call('old', 'echo', { text: 'žluť 🦊' }))).toBe(
        '{"text":"žluť 🦊"}',
      );
      await host.close();
      // Which of the two ends first depends on the load.
      expect(readFileSync(log, 'utf8').trim().split('\n').sort()).toEqual([
        '{"hasHeaders":false,"hasLines":true}',
        '{"hasHeaders":true,"hasLines":false}',
      ]);
    },
  );

  slow('a server that needs more than half of childSpawnMs to start still works', async () => {
    const project = createProject(
      configWith(
        { slow: testServer('starts-slowly', '6000') },
        { timeouts: { childSpawnMs: 10_000 } },
      ),
    );
    const host = await RawHost.connect(project);
    expect(textOf(await host.call('slow', 'echo', { a: 1 }))).toBe('{"a":1}');
  });

  test('a server that needs headers works at once if framing says so', async () => {
    const entry = { ...testServer('only-headers'), framing: 'content-length' };
    const project = createProject(configWith({ old: entry }));
    const host = await RawHost.connect(project);
    expect(textOf(await host.call('old', 'echo', { text: 'žluť 🦊' }))).toBe('{"text":"žluť 🦊"}');
  });

  test.each([
    'with headers',
    'on several lines',
    'among log lines',
    'in turns with and without headers',
    'byte by byte',
    'byte by byte, with headers',
    'after a byte order mark and with colours',
  ])('a server may answer %s', async (manner) => {
    const project = createProject(configWith({ odd: testServer('speaks', manner) }));
    const host = await RawHost.connect(project);
    expect(toolsOf(await host.introspect('odd'))).toHaveLength(7);
    for (const text of ['žluť 🦊', 'with "quotes" and {braces}\n', 'x'.repeat(2_000)]) {
      expect(textOf(await host.call('odd', 'echo', { text }))).toBe(JSON.stringify({ text }));
    }
  });

  test('fifty out-of-order answers reach their callers, and a stray one is dropped', async () => {
    const project = createProject(configWith({ mixed: testServer('shuffles', '50') }));
    const host = await RawHost.connect(project);
    const numbers = Array.from({ length: 50 }, (_, number) => number);
    const answers = await Promise.all(numbers.map((n) => host.call('mixed', 'echo', { n })));
    expect(answers.map(textOf)).toEqual(numbers.map((n) => JSON.stringify({ n })));
    expect(host.messages).toHaveLength(51);
  });
});

describe('a call that takes too long', () => {
  test.each([
    { limit: 'timeouts.rpcMs', entry: {}, common: { timeouts: { rpcMs: 4_000 } } },
    { limit: 'rpcTimeoutMs of the server', entry: { rpcTimeoutMs: 4_000 }, common: {} },
  ])(
    'times out at $limit: the call is cancelled, its late answer ignored',
    async ({ entry, common }) => {
      const project = createProject();
      const { file, messages } = recordingIn(project);
      const rec = { ...testServer('recording', file), ...entry };
      project.write('switchboard.config.json', { mcpServers: { rec }, ...common });
      const host = await RawHost.connect(project);
      expect(failureOf(await host.call('rec', 'hold'), project)).toMatchInlineSnapshot(
        `"RPC timeout for tools/call: server "rec" did not respond within 4000 ms (subtool "hold"). If it needs longer, raise rpcTimeoutMs for it (declared in <project>/switchboard.config.json)."`,
      );
      const sent = (method: string) => messages().find((message) => message.method === method);
      expect(await eventually(() => sent('notifications/cancelled') !== undefined)).toBe(true);
      const held = sent('tools/call');
      expect(sent('notifications/cancelled')?.params).toEqual({
        requestId: held?.id,
        reason: expect.stringContaining('4000 ms'),
      });
      // The child has answered late by now; the next call gets its own answer.
      expect(textOf(await host.call('rec', 'other'))).toBe('recorded');
      expect(host.messages.filter(({ id }) => id === 2)).toHaveLength(1);
    },
  );
});

describe('a server that exits', () => {
  test('fails every call in flight, with its name and code', async () => {
    const project = createProject(configWith({ frail: testServer('toolbox') }));
    const host = await RawHost.connect(project);
    const waiting = [1, 2, 3].map(() => host.call('frail', 'wait', { ms: 600_000 }));
    await host.call('frail', 'say', { text: 'about to go' });
    const exit = failureOf(await host.call('frail', 'exit', { code: 42 }), project);
    expect(exit).toMatchInlineSnapshot(`
      "Child MCP frail exited with code 42 while working on subtool "exit". It restarts the next time it's used. Its last output:
      about to go"
    `);
    for (const answer of await Promise.all(waiting)) {
      expect(failureOf(answer, project)).toContain('Child MCP frail exited with code 42');
    }
  });

  test('is restarted by the next use', async () => {
    const project = createProject(configWith({ frail: testServer('toolbox') }));
    const host = await RawHost.connect(project);
    const before = await whereIs(host, 'frail');
    await host.call('frail', 'exit', { code: 0 });
    const after = await whereIs(host, 'frail');
    expect(after.pid).not.toBe(before.pid);
    await host.call('frail', 'exit', { code: 1 });
    expect(textOf(await host.call('frail', 'echo', { a: 1 }))).toBe('{"a":1}');
  });

  test('five times in ten seconds is parked, and the error says until when', async () => {
    const project = createProject();
    const log = join(project.dir, 'starts.txt');
    project.write('switchboard.config.json', {
      mcpServers: {
        frail: { command: 'sh', args: ['-c', `echo start >> '${log}'; exit 7`] },
        mock: MOCK_CHILD,
      },
    });
    const host = await RawHost.connect(project);
    for (let start = 1; start <= 5; start++) {
      expect(failureOf(await host.introspect('frail'), project)).toContain(
        'Child MCP frail exited with code 7',
      );
    }
    const parked = failureOf(await host.introspect('frail'), project);
    expect(parked.replace(/\d\d:\d\d:\d\d/, 'hh:mm:ss')).toMatchInlineSnapshot(
      `"Server "frail" was started five times within ten seconds and is parked until hh:mm:ss. Find out why it exits: switchboard doctor frail"`,
    );
    // Five, and one more to find out whether it ends because it was asked what it is.
    expect(readFileSync(log, 'utf8').trimEnd().split('\n')).toHaveLength(6);
    expect((await host.call('mock', 'click')).result).toMatchObject({ ok: true });
  });
});

describe('a server’s stderr', () => {
  test('is forwarded line by line with the server’s name, and is not an error', async () => {
    const project = createProject(configWith({ chatty: testServer('toolbox') }));
    const host = await RawHost.connect(project);
    const text = 'ERROR: not really\nsecond line \u001b[31mred\u001b[0m';
    expect(textOf(await host.call('chatty', 'say', { text }))).toBe('said');
    expect(await host.lastWords()).toBe('[chatty] ERROR: not really\n[chatty] second line red\n');
    expect(host.impure).toEqual([]);
  });

  test('goes to a file or nowhere if configured', async () => {
    const project = createProject(
      configWith({
        logged: { ...testServer('toolbox'), stderr: 'log' },
        dropped: { ...testServer('toolbox'), stderr: 'drop' },
      }),
    );
    const host = await RawHost.connect(project);
    await host.call('logged', 'say', { text: 'for the file' });
    await host.call('dropped', 'say', { text: 'for nobody' });
    expect(await host.lastWords()).toBe('');
    const file = join(project.env['HOME'] ?? '', '.switchboard/logs/servers/logged.log');
    expect(readFileSync(file, 'utf8')).toMatch(/^\S+Z for the file\n$/);
  });
});

describe('secrets', () => {
  const SECRET = 'sk-canary-0123456789';

  test('in a server’s env never appear in stderr, errors or the most verbose log', async () => {
    const toolbox = testServer('toolbox');
    const project = createProject(
      configWith({
        safe: { ...toolbox, env: { API_KEY: '${API_KEY}', PORT: '8080' } },
        dies: {
          command: 'sh',
          args: ['-c', 'echo "bad key $API_KEY on $PORT" >&2; exit 1'],
          env: { API_KEY: SECRET, PORT: '8080' },
        },
      }),
    );
    const env = { API_KEY: SECRET, SWITCHBOARD_LOG: 'debug' };
    const host = await RawHost.connect(project, { env });

    await host.call('safe', 'say', { text: `key ${SECRET} on port 8080` });
    await eventually(() => host.stderr.includes('port 8080'));
    expect(host.stderr).toContain('[safe] key *** on port 8080');

    const failed = await host.call('safe', 'fail', {
      code: -32001,
      message: `${SECRET} is wrong`,
      data: { key: SECRET },
    });
    expect(failed.error).toEqual({
      code: -32001,
      message: '*** is wrong (server "safe", subtool "fail")',
      data: { key: '***' },
    });
    expect(textOf(await host.introspect('dies'))).toContain('bad key *** on 8080');
    expect(await host.lastWords()).not.toContain(SECRET);
  });

  test('in a result pass through unchanged', async () => {
    const project = createProject(
      configWith({ safe: { ...testServer('toolbox'), env: { API_KEY: SECRET } } }),
    );
    const host = await RawHost.connect(project);
    expect((await whereIs(host, 'safe')).env).toMatchObject({ API_KEY: SECRET });
  });
});

test('needs no network', async () => {
  const project = createProject(configWith({ mock: MOCK_CHILD }));
  const options = { env: { NODE_OPTIONS: `--require ${join(FIXTURES, 'no-network.cjs')}` } };
  const host = await RawHost.connect(project, options);
  expect(toolsOf(await host.introspect('mock'))).toHaveLength(4);
  expect((await host.call('mock', 'click')).result).toMatchObject({ ok: true });
});
