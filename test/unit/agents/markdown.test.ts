// Agents in Markdown: Claude Code's, chat modes, and custom agents of VS Code and Copilot.
import { describe, expect, test } from 'vitest';
import { createAgents, markdown } from './temp-agents.ts';

const FILES = {
  claude: 'project/.claude/agents/a.agent.md',
  chatmode: 'project/.github/chatmodes/planning.chatmode.md',
  copilot: 'project/.github/agents/helper.agent.md',
};

/** Loads one agent from a text, without the mapping of models. */
async function load(kind: keyof typeof FILES, text: string, said: object = {}) {
  const agents = createAgents({ [FILES[kind]]: text });
  const agent = await agents.loadOnly({ extraFormats: true, modelMapEnable: false, ...said });
  return { ...agent, warnings: agents.plain(agent.warnings) };
}

const ref = (text: string, server?: string, tool?: string) => ({ server, tool, text });

describe('front matter', () => {
  test.each([
    ['as usual', '---\nname: A\n---\nBody\n'],
    ['with a byte order mark', '\ufeff---\nname: A\n---\nBody\n'],
    ['with lines as Windows ends them', '---\r\nname: A\r\n---\r\nBody\r\n'],
    ['after blank lines', '\n \n---\nname: A\n---\nBody\n'],
    ['with spaces behind the dashes', '---  \nname: A\n--- \t\n\n\nBody  \n\n'],
    ['that says it is YAML', '---yaml\nname: A\n---\nBody'],
    ['in which a text is in quotes', '---\n"name": "A"\n---\nBody'],
    ['with a comment', '---\n# whose?\nname: A # mine\n---\nBody'],
  ])('%s is read', async (_, text) => {
    expect(await load('claude', text)).toMatchObject({
      name: 'A',
      instructions: 'Body',
      warnings: [],
    });
  });

  test('without a body is an agent without instructions', async () => {
    expect((await load('claude', '---\nname: A\n---\n')).instructions).toBeUndefined();
  });

  test('keeps lines of dashes in the body', async () => {
    expect((await load('claude', markdown('name: A', 'a\n---\nb'))).instructions).toBe('a\n---\nb');
  });

  test('keeps strings as written', async () => {
    const agent = await load(
      'claude',
      markdown('name: 007\ndescription: yes\ntags: [1.0, ~, on]\nmodel: null'),
    );
    expect(agent).toMatchObject({
      name: '007',
      description: 'yes',
      tags: ['1.0', '~', 'on'],
      run: {},
    });
  });

  test('with a duplicate key is used, with a warning', async () => {
    const agent = await load('claude', markdown('name: A\ndescription: x\nname: B'));
    expect(agent).toMatchObject({
      name: 'B',
      warnings: [`${FILES.claude}:4: Duplicate key "name"; the last one is used.`],
    });
  });

  test.each([
    [
      'a colon in a description',
      'description: Use this agent when: it burns. Example: user: "help"',
      'Use this agent when: it burns. Example: user: "help"',
    ],
    ['a bracket in front', 'description: [WIP] use it for: tests', '[WIP] use it for: tests'],
    ['a quoted word in front', 'description: "Quick" help: now', '"Quick" help: now'],
    [
      'an escape that YAML does not have',
      'description: "digits \\d and: more"',
      'digits \\d and: more',
    ],
    ['further lines', 'description: Use it: now\n  and then: again', 'Use it: now and then: again'],
  ])('is read more leniently than strict YAML: %s', async (_, said, description) => {
    const agent = await load(
      'claude',
      markdown(`name: A\n${said}\ntools:\n  - Edit\n  - Bash\nmodel: m`),
    );
    expect(agent).toMatchObject({
      description,
      run: { model: 'm', builtins: { apply_patch: true } },
      warnings: [],
    });
  });

  test.each([
    ['a list that does not end', 'name: A\ntools: [a, b', 3, 'Not valid YAML: '],
    ['a line that is none', 'name: A: B\nnonsense\ntools: x', 2, 'Not valid YAML: '],
    ['a text before the first key', 'nonsense: a: b\n- x', 2, 'Not valid YAML: '],
    ['a list in place of keys', '- a\n- b', 2, 'Not valid YAML: expected keys with values'],
    [
      'aliases that multiply',
      `name: A\na: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c]`,
      4,
      'Not valid YAML: ',
    ],
    ['nesting without end', `name: A\ntools: ${'['.repeat(20_000)}`, 3, 'Not valid YAML: '],
    [
      'a length that nobody writes',
      `name: A\ndescription: ${'x'.repeat(70_000)}`,
      1,
      'The front matter is too long.',
    ],
  ])('%s is reported with its line', async (_, head, line, says) => {
    const { list, plain } = createAgents({ [FILES.claude]: markdown(head) });
    const { agents, problems } = await list();
    expect(agents).toEqual([]);
    expect(plain(problems)).toEqual([expect.stringContaining(`${FILES.claude}:${line}: ${says}`)]);
  });

  test('with keys of Object.prototype is harmless', async () => {
    const agent = await load(
      'claude',
      markdown('name: A\n__proto__: { polluted: yes }\nconstructor: x\ntoString: y'),
    );
    expect(agent.name).toBe('A');
    expect({}).not.toHaveProperty('polluted');
  });
});

describe('Claude Code', () => {
  test('agents have a name, tools, a model and a body', async () => {
    const agent = await load(
      'claude',
      markdown(
        'name: A\ndescription: d\ntools: Read, Edit WebSearch,Lookup\ntags: deep research, x\nmodel: m\nprovider: p\neffort: high\npermissionMode: plan\nhooks: {}\ncolor: red',
      ),
    );
    expect(agent).toMatchObject({
      description: 'd',
      tags: ['deep research', 'x'],
      instructions: 'Do it well.',
      warnings: [],
    });
    expect(agent.run).toEqual({
      model: 'm',
      provider: 'p',
      effort: 'high',
      builtins: { apply_patch: true, web_search: true },
    });
    expect(agent.tools).toEqual([ref('Lookup', undefined, 'Lookup')]);
  });

  test('the provider may be called modelProvider, and an inherited model is unset', async () => {
    expect(
      (await load('claude', markdown('name: A\nmodel: Inherit\nmodelProvider: p'))).run,
    ).toEqual({
      provider: 'p',
    });
  });

  test('an effort that is not a word is ignored', async () => {
    const agent = await load('claude', markdown('name: A\neffort: 32000'));
    expect(agent.run).toEqual({});
    expect(agent.warnings).toEqual([
      `${FILES.claude}:3: effort: expected one word, got "32000". Ignored.`,
    ]);
  });

  test('restrictions on a tool are dropped with their parentheses', async () => {
    const agent = await load(
      'claude',
      markdown('name: A\ntools: Bash(git diff:*, ls), Agent(a, b), Edit'),
    );
    expect(agent).toMatchObject({ run: { builtins: { apply_patch: true } }, tools: [] });
  });

  test('servers are named or declared in the file', async () => {
    const agent = await load(
      'claude',
      markdown(
        'name: A\nmcpServers:\n  - github\n  - docs:\n      type: http\n      url: https://docs.example/mcp\n      headers: { X: "1" }\n  - bad: { args: [] }',
      ),
    );
    expect(agent.tools).toEqual([ref('github', 'github')]);
    expect([...agent.servers.values()]).toEqual([
      expect.objectContaining({
        key: 'docs',
        url: 'https://docs.example/mcp',
        headers: { X: '1' },
      }),
    ]);
    expect(agent.warnings).toEqual([
      `${FILES.claude}:3: mcpServers.bad: expected a command or a url, got nothing. The server is ignored.`,
    ]);
  });

  test.each([
    ['tools: Edit, Write\ndisallowedTools: Write', { builtins: { apply_patch: true } }, []],
    ['tools: Edit\ndisallowedTools: Edit', { builtins: { apply_patch: false } }, []],
    [
      'tools: "*"\ndisallowedTools: WebFetch',
      { builtins: { plan: true, apply_patch: true, web_search: false } },
      [],
    ],
    ['disallowedTools: [WebSearch, WebFetch]', { builtins: { web_search: false } }, []],
    ['tools: mcp__a__x, mcp__a__y\ndisallowedTools: mcp__b__x', {}, ['mcp__a__x', 'mcp__a__y']],
    ['tools: mcp__a__x, mcp__b__y, z\ndisallowedTools: mcp__a, z', {}, ['mcp__b__y']],
    ['mcpServers: [a, b]\ndisallowedTools: mcp__a__*', {}, ['b']],
  ])('%s', async (said, run, tools) => {
    const agent = await load('claude', markdown(`name: A\n${said}`));
    expect(agent).toMatchObject({ run, warnings: [] });
    expect(agent.tools.map(({ text }) => text)).toEqual(tools);
  });

  test('a denial that cannot apply is reported', async () => {
    const agent = await load(
      'claude',
      markdown('name: A\ntools: mcp__a\ndisallowedTools: Bash, mcp__a__x'),
    );
    expect(agent.warnings).toEqual([
      `${FILES.claude}: disallowedTools: "Bash" has no effect, because the engine always has a shell. Restrict it with a sandbox.`,
      `${FILES.claude}: disallowedTools: "mcp__a__x" has no effect, because the server is attached with all of its tools.`,
    ]);
  });

  test('a denied server is not attached', async () => {
    const agent = await load(
      'claude',
      markdown('name: A\nmcpServers: { a: { command: x } }\ndisallowedTools: mcp__a'),
    );
    expect(agent.servers.size).toBe(0);
  });
});

describe('chat modes', () => {
  test('take their name from the file, and their model into the run', async () => {
    const agent = await load(
      'chatmode',
      markdown(
        'description: Plans\ntools: [edit, "memory::memory", "github::get_issue", custom]\nmodel: m\nmodelProvider: p\ntags: a b, c',
      ),
    );
    expect(agent).toMatchObject({
      name: 'planning',
      toolName: 'vsc_planning',
      description: 'Plans',
      tags: ['a', 'b', 'c'],
      run: { model: 'm', provider: 'p', builtins: { apply_patch: true } },
      tools: [
        ref('memory::memory', 'memory'),
        ref('github::get_issue', 'github', 'get_issue'),
        ref('custom', undefined, 'custom'),
      ],
    });
  });

  test('may set their name, and tools and tags in either form', async () => {
    const agent = await load(
      'chatmode',
      markdown('name: Mode\ndescription: d\ntools: edit, runCommands\ntags: [x y]'),
    );
    expect(agent).toMatchObject({
      name: 'Mode',
      tags: ['x y'],
      run: { builtins: { apply_patch: true } },
      tools: [],
    });
  });
});

describe('custom agents', () => {
  test('declare tools, models in order of preference, and servers', async () => {
    const agent = await load(
      'copilot',
      markdown(
        `description: Helps
tools: ['edit/createFile', 'search/codebase', 'web/fetch', 'todo', 'github/*', 'github/github-mcp-server/get_me', 'own', 'vscode/openSimpleBrowser']
model: ['GPT-5 (copilot)', other]
argument-hint: what
handoffs: []
mcp-servers:
  own:
    type: local
    command: run
    args: ['--key', x]
    tools: ['a', 'b']
    env: { A: $TOKEN, B: "\${{ secrets.KEY }}", C: "\${D:-e}" }
  old:
    type: sse
    url: https://old.example/sse`,
      ),
    );
    expect(agent).toMatchObject({ name: 'helper', description: 'Helps' });
    expect(agent.run).toEqual({
      model: 'GPT-5',
      builtins: { apply_patch: true, web_search: true, plan: true },
    });
    expect(agent.tools).toEqual([
      ref('own::a', 'own', 'a'),
      ref('own::b', 'own', 'b'),
      ref('github/*', 'github'),
      ref('github/github-mcp-server/get_me', 'github/github-mcp-server', 'get_me'),
      ref('own', 'own'),
    ]);
    expect([...agent.servers.values()]).toEqual([
      expect.objectContaining({
        key: 'own',
        cmd: 'run',
        args: ['--key', 'x'],
        env: { A: '${TOKEN}', B: '${KEY}', C: '${D:-e}' },
      }),
    ]);
    expect(agent.warnings).toEqual([
      expect.stringContaining('mcp-servers.old: SSE is not supported.'),
    ]);
  });

  test.each([
    ['tools: ["*"]', { builtins: { plan: true, apply_patch: true, web_search: true } }],
    ['tools: "*"', { builtins: { plan: true, apply_patch: true, web_search: true } }],
    ['tools: []', {}],
    ['infer: true', {}],
  ])('%s', async (said, run) => {
    expect(await load('copilot', markdown(said))).toMatchObject({ run, tools: [], warnings: [] });
  });
});
