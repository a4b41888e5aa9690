// Suites: one tool for each server, with the actions `introspect` and `call`.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/processes.ts';
import { configWith, createProject, type Project } from '../support/project.ts';
import { type Answer, RawHost, textOf, toolsOf } from '../support/raw-host.ts';
import { MOCK_CHILD, testServer } from '../support/servers.ts';

interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations?: object;
}

async function listTools(host: RawHost): Promise<ListedTool[]> {
  return (await host.request('tools/list')).result?.['tools'] as ListedTool[];
}

async function namesIn(project: Project): Promise<string[]> {
  return (await listTools(await RawHost.connect(project))).map(({ name }) => name);
}

/** A server that keeps a record, and what is in the record: nothing before its first start. */
function recordingServer(project: Project, result?: string) {
  const file = join(project.dir, 'recording.txt');
  const lines = (): string[] =>
    existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return {
    entry: testServer('recording', file, ...(result === undefined ? [] : [result])),
    lines,
    starts: () => lines().filter((line) => line.startsWith('started ')),
    calls: () => lines().filter((line) => line.includes('"tools/call"')),
  };
}

/** A host in a project whose one server, `rec`, keeps a record. */
async function connectRecording(settings: object = {}, result?: string) {
  const project = createProject();
  const recording = recordingServer(project, result);
  project.write('switchboard.config.json', {
    mcpServers: { rec: { ...recording.entry, ...settings } },
  });
  return { host: await RawHost.connect(project), ...recording };
}

describe('the list of tools', () => {
  test('has exactly one suite per server, whatever its tools', async () => {
    const many = Array.from({ length: 30 }, (_, index) => ({ name: `tool_${index}` }));
    const project = createProject({
      ...configWith({ many: testServer('lists', JSON.stringify(many)) }),
      'mcps/two/.mcp.json': { name: 'two', command: { cmd: 'node' } },
      '.switchboard/mcps/three/.mcp.json': { name: 'three', command: { cmd: 'node' } },
    });
    const host = await RawHost.connect(project);
    const before = await listTools(host);
    expect(before.map(({ name }) => name)).toEqual(['many_suite', 'three_suite', 'two_suite']);
    expect(toolsOf(await host.introspect('many'))).toHaveLength(30);
    expect(await listTools(host)).toEqual(before);
  });

  test('starts nothing: the first introspect or call does', async () => {
    const { host, starts } = await connectRecording();
    await listTools(host);
    await host.request('ping');
    expect(starts()).toEqual([]);
    await host.introspect('rec');
    expect(starts()).toHaveLength(1);
  });

  test('shows a suite with its name, default description and schema', async () => {
    const project = createProject(
      configWith({
        mock: { ...MOCK_CHILD, description: 'pretend browser tools' },
        plain: MOCK_CHILD,
        sentence: { ...MOCK_CHILD, description: 'Looks things up.' },
      }),
    );
    const [mock, plain, sentence] = await listTools(await RawHost.connect(project));
    expect(mock).toEqual({
      name: 'mock_suite',
      title: 'mock',
      description: "Use this tool for pretend browser tools. Actions: 'introspect' | 'call'.",
      inputSchema: {
        type: 'object',
        properties: {
          action: { type: 'string', enum: ['introspect', 'call'] },
          subtool: { type: 'string' },
          args: { type: 'object' },
          verbosity: { type: 'string', enum: ['summary', 'full', 'redacted'] },
        },
        required: ['action'],
      },
      _meta: { 'anthropic/alwaysLoad': true },
    });
    expect(plain?.description).toBe("Use this tool for plain. Actions: 'introspect' | 'call'.");
    expect(sentence?.description).toBe(
      "Use this tool for Looks things up. Actions: 'introspect' | 'call'.",
    );
  });

  test('takes a description from the child file, then from suites, then the default', async () => {
    const child = (name: string, more: object) => ({
      [`mcps/${name}/.mcp.json`]: { name, description: `about ${name}`, ...more },
    });
    const project = createProject({
      'switchboard.config.json': {
        suites: { both: { description: 'from suites' }, suites: { description: 'from suites' } },
      },
      ...child('both', { switchboardDescription: 'from the child file' }),
      ...child('file', { switchboardDescription: 'from the child file' }),
      ...child('suites', {}),
      ...child('neither', {}),
    });
    const tools = await listTools(await RawHost.connect(project));
    expect(Object.fromEntries(tools.map(({ name, description }) => [name, description]))).toEqual({
      both_suite: 'from the child file',
      file_suite: 'from the child file',
      suites_suite: 'from suites',
      neither_suite: "Use this tool for about neither. Actions: 'introspect' | 'call'.",
    });
  });

  test('has a renamed suite only under its new name, though its default name can also be called', async () => {
    const project = createProject(
      configWith(
        { mock: MOCK_CHILD, other: MOCK_CHILD },
        { suites: { mock: { suiteName: 'browser' } } },
      ),
    );
    const host = await RawHost.connect(project);
    expect((await listTools(host)).map(({ name }) => name)).toEqual(['browser', 'other_suite']);
    const args = { action: 'call', subtool: 'click' };
    for (const name of ['browser', 'mock_suite', 'other_suite']) {
      const { result } = await host.request('tools/call', { name, arguments: args });
      expect(result).toMatchObject({ ok: true, name: 'click' });
    }
  });

  test('has names every host accepts, and reports collisions', async () => {
    const project = createProject(
      configWith({
        'my server.io': MOCK_CHILD,
        'my server/io': MOCK_CHILD,
        '@scope/päckage': MOCK_CHILD,
        ['a'.repeat(60)]: MOCK_CHILD,
        [`${'a'.repeat(59)}b`]: MOCK_CHILD,
      }),
    );
    const host = await RawHost.connect(project);
    const names = (await listTools(host)).map(({ name }) => name);
    expect(names).toEqual([
      'my_server_io_suite',
      'my_server_io_suite_2',
      '_scope_p_ckage_suite',
      expect.stringMatching(/^a{41}_[0-9a-f]{4}$/),
      expect.stringMatching(/^a{41}_[0-9a-f]{4}$/),
    ]);
    expect(new Set(names).size).toBe(5);
    for (const name of names) {
      const params = { name, arguments: { action: 'call', subtool: 'echo' } };
      expect((await host.request('tools/call', params)).result).toMatchObject({ ok: true });
    }
    expect(await host.lastWords()).toMatchInlineSnapshot(`
      "switchboard: warn: the tool name my_server_io_suite is taken; server "my server/io" is shown as my_server_io_suite_2.
      "
    `);
  });

  test('is byte for byte the same again and in the next run', async () => {
    const project = createProject({
      ...configWith({ zebra: MOCK_CHILD, ant: MOCK_CHILD }),
      'mcps/b/.mcp.json': { name: 'b' },
      'mcps/a/.mcp.json': { name: 'a' },
    });
    const runs = [await RawHost.connect(project), await RawHost.connect(project)];
    for (const host of runs) {
      await host.request('tools/list', undefined, 'list');
      await host.call('ant', 'click');
      await host.request('tools/list', undefined, 'list');
    }
    const lists = runs.flatMap(({ texts }) => texts.filter((text) => text.includes('"list"')));
    expect(lists).toHaveLength(4);
    expect(new Set(lists).size).toBe(1);
    expect(await namesIn(project)).toEqual(['zebra_suite', 'ant_suite', 'a_suite', 'b_suite']);
  });
});

describe('introspect', () => {
  const LONG = `First sentence that is long enough to fill more than half of the room that a summary has. ${'Then it goes on. '.repeat(20)}`;
  const TOOLS = [
    {
      name: 'look_up',
      title: 'Look up',
      description: LONG,
      inputSchema: { type: 'object', properties: { word: { type: 'string' } } },
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
      _meta: { internal: true },
    },
    { name: 'no_description', inputSchema: { type: 'object' } },
  ];
  const LISTS = testServer('lists', JSON.stringify(TOOLS));

  test('returns name, summary and input schema of each subtool, as text and as data', async () => {
    const project = createProject(configWith({ dict: LISTS }));
    const host = await RawHost.connect(project);
    const { result } = await host.introspect('dict');
    const tools = [
      {
        name: 'look_up',
        summary: expect.stringMatching(/^First sentence .*\.$/),
        inputSchema: TOOLS[0]?.inputSchema,
      },
      { name: 'no_description', summary: '', inputSchema: { type: 'object' } },
    ];
    const shown = {
      structuredContent: { tools },
      content: [{ type: 'text', text: JSON.stringify(result?.['structuredContent']) }],
    };
    expect(result).toEqual(shown);
    const headers = await RawHost.connect(project, { framing: 'content-length' });
    expect((await headers.introspect('dict')).result).toEqual({ ...shown, tools });
    expect(result?.isError).toBeUndefined();
    const [lookUp] = toolsOf({ id: 0, ...(result ? { result } : {}) });
    expect(String(lookUp?.['summary']).length).toBeLessThanOrEqual(160);
  });

  test('returns more or less as the call or the configuration says, the call first', async () => {
    const project = (mode: string) =>
      createProject(configWith({ dict: LISTS }, { introspection: { mode } }));
    const keysOf = (answer: Answer) => toolsOf(answer).map((tool) => Object.keys(tool));
    const keys = {
      redacted: ['name', 'summary'],
      summary: ['name', 'summary', 'inputSchema'],
      full: [
        'name',
        'summary',
        'inputSchema',
        'description',
        'title',
        'outputSchema',
        'annotations',
      ],
    };
    for (const mode of ['redacted', 'summary', 'full'] as const) {
      const host = await RawHost.connect(project(mode));
      expect(keysOf(await host.introspect('dict'))[0]).toEqual(keys[mode]);
      for (const verbosity of ['redacted', 'summary', 'full'] as const) {
        expect(keysOf(await host.introspect('dict', { verbosity }))[0]).toEqual(keys[verbosity]);
      }
    }
    const host = await RawHost.connect(project('redacted'));
    const [full] = toolsOf(await host.introspect('dict', { verbosity: 'full' }));
    expect(full?.['description']).toBe(LONG);
    const wrong = await host.introspect('dict', { verbosity: 'loud' });
    expect(wrong.result?.isError).toBe(true);
    expect(textOf(wrong)).toMatchInlineSnapshot(
      `"Unknown verbosity: "loud". Use one of: summary, full, redacted."`,
    );
  });

  test('narrows to one subtool, and suggests names for an unknown one', async () => {
    const host = await RawHost.connect(createProject(configWith({ mock: MOCK_CHILD })));
    const one = await host.introspect('mock', { subtool: 'navigate' });
    expect(toolsOf(one).map(({ name }) => name)).toEqual(['navigate']);
    const none = await host.introspect('mock', { subtool: 'navigat' });
    expect(none.result?.isError).toBe(true);
    expect(textOf(none)).toMatchInlineSnapshot(
      `"Server "mock" has no subtool "navigat". Did you mean "navigate"? The action "introspect" (in a terminal: switchboard tools mock) lists its subtools."`,
    );
  });

  test('limits summaries to summaryMaxChars, the server’s before the general one', async () => {
    const project = createProject(
      configWith(
        { dict: LISTS, short: LISTS },
        { introspection: { summaryMaxChars: 80 }, suites: { short: { summaryMaxChars: 40 } } },
      ),
    );
    const host = await RawHost.connect(project);
    const summaryOf = async (child: string) =>
      String(toolsOf(await host.introspect(child))[0]?.['summary']);
    expect(await summaryOf('dict')).toMatch(/^First sentence .{20,}…$/);
    expect((await summaryOf('dict')).length).toBeLessThanOrEqual(80);
    expect((await summaryOf('short')).length).toBeLessThanOrEqual(40);
  });
});

describe('annotations', () => {
  const READS = {
    name: 'read',
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
  };
  const WRITES = { name: 'write', inputSchema: { type: 'object' } };
  const annotationsOf = async (host: RawHost) =>
    Object.fromEntries((await listTools(host)).map(({ name, annotations }) => [name, annotations]));

  test('appear once the tools are known, and in the first list of the next session', async () => {
    const reader = testServer('lists', JSON.stringify([READS]));
    const project = createProject(configWith({ reader }));
    const host = await RawHost.connect(project);
    expect(await annotationsOf(host)).toEqual({ reader_suite: undefined });
    await host.introspect('reader');
    expect(await eventually(() => host.listChanges === 1)).toBe(true);
    const claimed = { reader_suite: expect.objectContaining({ readOnlyHint: true }) as unknown };
    expect(await annotationsOf(host)).toEqual(claimed);
    await host.close();
    const next = await RawHost.connect(project);
    expect(await annotationsOf(next)).toEqual(claimed);
    expect(textOf(await next.call('reader', 'read'))).toBe('called read');
  });

  test('readOnlyTool adds a tool that only calls read-only subtools', async () => {
    const files = { ...testServer('lists', JSON.stringify([READS, WRITES])), readOnlyTool: true };
    const host = await RawHost.connect(createProject(configWith({ files })));
    expect(await annotationsOf(host)).toEqual({
      files_suite: undefined,
      files_suite_read: { readOnlyHint: true, destructiveHint: false },
    });
    const call = (subtool: string) =>
      host.callTool('files_suite_read', { action: 'call', subtool });
    expect(textOf(await call('read'))).toBe('called read');
    expect(textOf(await call('write'))).toBe(
      'Subtool "write" of server "files" is not marked as read-only, so files_suite_read cannot call it. Call it through files_suite.',
    );
    expect(textOf(await host.call('files', 'write'))).toBe('called write');
  });
});

describe('allow and deny', () => {
  test.each([
    { expose: { allow: ['page_open'] }, shown: ['page_open'] },
    {
      expose: { deny: ['hold', 'other'] },
      shown: ['browser_click', 'browser_type', 'browser_secret', 'page_open', 'page_close'],
    },
    {
      expose: { allow: ['browser_*', 'other'], deny: ['*_secret'] },
      shown: ['browser_click', 'browser_type', 'other'],
    },
    { expose: { allow: ['page_open'], deny: ['page_open'] }, shown: [] },
    { expose: { allow: [] }, shown: [] },
    { expose: { allow: ['p*_*e'] }, shown: ['page_close'] },
  ])('$expose applies to introspect and call', async ({ expose, shown }) => {
    const { host, calls } = await connectRecording({ expose });
    const names = toolsOf(await host.introspect('rec')).map(({ name }) => name);
    expect(names).toEqual(shown);
    for (const name of ['browser_secret', 'page_open', 'hold'].filter(
      (one) => !names.includes(one),
    )) {
      const answer = await host.call('rec', name);
      expect(answer.result?.isError).toBe(true);
      expect(textOf(answer)).toContain(
        `Subtool '${name}' not allowed by Switchboard (suite 'rec').`,
      );
    }
    expect(calls()).toEqual([]);
    for (const name of names) {
      expect(textOf(await host.call('rec', name))).toBe('recorded');
    }
  });

  test('a refused or invalid call does not start the server', async () => {
    const { host, starts } = await connectRecording({ expose: { deny: ['browser_*'] } });
    expect(textOf(await host.call('rec', 'browser_click'))).toMatchInlineSnapshot(
      `"Subtool 'browser_click' not allowed by Switchboard (suite 'rec'). To change this, edit expose.allow and expose.deny in the configuration. The action "introspect" lists the allowed subtools."`,
    );
    await host.request('tools/call', { name: 'rec_suite', arguments: { action: 'call' } });
    await host.call('rec', 'page_open', 'no object');
    expect(starts()).toEqual([]);
  });

  test('a hidden subtool is not suggested', async () => {
    const { host } = await connectRecording({ expose: { deny: ['page_open'] } });
    const narrowed = textOf(await host.introspect('rec', { subtool: 'page_open' }));
    expect(narrowed).toMatchInlineSnapshot(
      `"Server "rec" has no subtool "page_open". Did you mean "page_close"? The action "introspect" (in a terminal: switchboard tools rec) lists its subtools."`,
    );
  });
});

describe('call', () => {
  test('without a subtool fails with a message', async () => {
    const { host } = await connectRecording();
    for (const more of [{}, { subtool: '' }, { subtool: 7 }]) {
      const answer = await host.request('tools/call', {
        name: 'rec_suite',
        arguments: { action: 'call', ...more },
      });
      expect(answer.result?.isError).toBe(true);
      expect(textOf(answer)).toContain('Missing required parameter: subtool');
    }
  });

  test('of an unknown subtool suggests names', async () => {
    const project = createProject(configWith({ toolbox: testServer('toolbox') }));
    const host = await RawHost.connect(project);
    const answer = await host.call('toolbox', 'ecko');
    expect(answer.result?.isError).toBe(true);
    expect(textOf(answer)).toMatchInlineSnapshot(
      `"Server "toolbox" has no subtool "ecko". Did you mean "echo"? The action "introspect" (in a terminal: switchboard tools toolbox) lists its subtools. The server's error: Unknown tool: ecko (server "toolbox", subtool "ecko")."`,
    );
  });

  test('without args sends {}, and parses args written as a JSON string', async () => {
    const { host, calls } = await connectRecording();
    const call = (more: object) =>
      host.request('tools/call', {
        name: 'rec_suite',
        arguments: { action: 'call', subtool: 'other', ...more },
      });
    await call({});
    await call({ args: null });
    await call({ args: '{"a": 1}' });
    expect(calls().map((line) => (JSON.parse(line) as { params: object }).params)).toEqual([
      { name: 'other', arguments: {} },
      { name: 'other', arguments: {} },
      { name: 'other', arguments: { a: 1 } },
    ]);
    const wrong = await call({ args: [1] });
    expect(textOf(wrong)).toMatchInlineSnapshot(
      `""args" for subtool "other" must be an object. {"action": "introspect", "subtool": "other"} shows its parameters."`,
    );
  });

  test('never mixes the request’s _meta into the arguments', async () => {
    const { host, calls } = await connectRecording();
    await host.request('tools/call', {
      name: 'rec_suite',
      arguments: { action: 'call', subtool: 'other', args: { a: 1 } },
      _meta: { progressToken: 'mine', 'vendor/trace': 'x' },
    });
    const [line = '{}'] = calls();
    const { id, params } = JSON.parse(line) as { id: number; params: object };
    expect(params).toEqual({
      name: 'other',
      arguments: { a: 1 },
      _meta: { 'vendor/trace': 'x', progressToken: id },
    });
  });

  // What a parse and a stringify would change, drop or choke on.
  const EXACT = [
    '{"big":12345678901234567890,"one":1.0,"zero":-0,"exp":1E400,"tiny":0.1000}',
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}},"":""}',
    '{"twice":1,"twice":2}',
    '{"escaped":"\\u00e9\\/\\ud83e\\udd8a","raw":"é/🦊"}',
    `{"deep":${'['.repeat(500)}${']'.repeat(500)}}`,
    '{ "spaced" : [ 1 , 2 ] }',
  ];

  test.each(EXACT)('forwards arguments byte for byte: %s', async (args) => {
    const { host, calls } = await connectRecording();
    const call = `{"action":"call","subtool":"other","args":${args}}`;
    host.write(
      `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"rec_suite","arguments":${call}}}\n`,
    );
    await eventually(() => host.messages.some(({ id }) => id === 'x'));
    expect(calls()[0]).toContain(`"arguments":${args}}`);
  });

  test.each(EXACT)('returns results byte for byte: %s', async (value) => {
    const result = `{"content":[{"type":"text","text":"x","odd":${value}}],"isError":false,"_meta":{"v":1},"structuredContent":${value},"unknown":${value}}`;
    const { host } = await connectRecording({}, result);
    await host.call('rec', 'other', {}, 'x');
    expect(host.texts).toContain(`{"jsonrpc":"2.0","id":"x","result":${result}}`);
  });

  test('a result that is not a tool result keeps its keys and gains content and structuredContent', async () => {
    const host = await RawHost.connect(createProject(configWith({ mock: MOCK_CHILD })));
    const answer = { ok: true, name: 'click', args: { selector: '#a' } };
    const { result } = await host.call('mock', 'click', { selector: '#a' });
    expect(result).toEqual({
      ...answer,
      content: [{ type: 'text', text: JSON.stringify(answer) }],
      structuredContent: answer,
    });
  });

  test.each([
    { result: '"just text"', text: '"just text"' },
    { result: '[1, 2.0]', text: '[1, 2.0]' },
    { result: '42', text: '42' },
    { result: '{}', text: '{}' },
  ])('returns the bare result $result as text', async ({ result, text }) => {
    const { host } = await connectRecording({}, result);
    expect(textOf(await host.call('rec', 'other'))).toBe(text);
  });

  test.each(['null', '{"content":"no array"}', '{"content":[{"no":"type"}]}'])(
    'the unreadable result %s is reported as the server’s mistake',
    async (result) => {
      const { host } = await connectRecording({}, result);
      const answer = await host.call('rec', 'other');
      expect(answer.result?.isError).toBe(true);
      expect(textOf(answer)).toContain(
        'Server "rec" returned an invalid result for subtool "other"',
      );
      expect(textOf(await host.introspect('rec'))).toContain('page_open');
    },
  );

  test.each(['for this server', 'for all'])(
    'with results.wrap "json" %s the whole result is one text block',
    async (where) => {
      const results = { wrap: 'json' };
      const isCommon = where === 'for all';
      const project = createProject(
        configWith(
          { mock: { ...MOCK_CHILD, ...(isCommon ? {} : { results }) }, other: MOCK_CHILD },
          isCommon ? { results } : {},
        ),
      );
      const host = await RawHost.connect(project);
      const { result } = await host.call('mock', 'click', { selector: '#a' });
      const text = '{"ok":true,"name":"click","args":{"selector":"#a"}}';
      expect(result).toEqual({ content: [{ type: 'text', text }] });
      const other = await host.call('other', 'click');
      expect(other.result?.['ok']).toBe(isCommon ? undefined : true);
    },
  );
});

describe('processes', () => {
  test('one process serves all of a server’s calls, and each server has its own', async () => {
    const project = createProject(
      configWith({ one: testServer('toolbox'), two: testServer('toolbox') }),
    );
    const host = await RawHost.connect(project);
    const pidOf = async (child: string) =>
      (JSON.parse(textOf(await host.call(child, 'where_am_i'))) as { pid: number }).pid;
    const [first, again, other] = [await pidOf('one'), await pidOf('one'), await pidOf('two')];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    expect(first).not.toBe(host.process.pid);
  });

  test('concurrent first uses start one process', async () => {
    const { host, starts } = await connectRecording();
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, () => host.call('rec', 'other')),
      host.introspect('rec'),
    ]);
    for (const { result } of answers) expect(result?.isError).toBeUndefined();
    expect(starts()).toHaveLength(1);
  });

  test('introspects two slow servers at the same time', async () => {
    const project = createProject();
    const gate = join(project.dir, 'gate');
    project.write('switchboard.config.json', {
      mcpServers: {
        // Each starts only when the other has: one after the other, neither ever would.
        one: testServer('waits-for-file', `${gate}-1`, `${gate}-2`),
        two: testServer('waits-for-file', `${gate}-2`, `${gate}-1`),
      },
    });
    const host = await RawHost.connect(project);
    const answers = await Promise.all([host.introspect('one'), host.introspect('two')]);
    for (const answer of answers) expect(toolsOf(answer).length).toBeGreaterThan(0);
  });
});
