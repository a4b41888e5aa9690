// Which files become agents, in which order, under which names, and what is said about the others.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { listAgents } from '../../../src/agents/list.ts';
import { resolveAgents } from '../../../src/config/settings/agents.ts';
import { NO_SOURCES } from '../../../src/config/settings/sources.ts';
import { agentSettings } from '../../support/agent-settings.ts';
import { age, createAgents, markdown } from './temp-agents.ts';

const toml = (name: string) => `name = "${name}"\n`;
const claude = (name: string) => markdown(`name: ${name}`);
const chatmode = (name: string) => markdown(`name: ${name}\ndescription: d`);

const DOCUMENTED = {
  'project/.agents/one.toml': toml('Toml project'),
  'home/agents/two.toml': toml('Toml home'),
  'user/.agents/three.toml': toml('Toml user'),
  'project/.claude/agents/one.agent.md': claude('Claude project'),
  'home/agents/two.agent.md': claude('Claude home'),
  'user/.claude/agents/three.agent.md': claude('Claude user'),
  'project/.github/chatmodes/one.chatmode.md': chatmode('Chat project'),
  'home/chatmodes/two.chatmode.md': chatmode('Chat home'),
  'user/.chatmodes/three.chatmode.md': chatmode('Chat user'),
};

const CLAUDE_CODE = {
  'project/.claude/agents/plain.md': claude('Plain project'),
  'project/.claude/agents/team/deep/nested.md': claude('Nested project'),
  'home/agents/plain.md': claude('Plain home'),
  'user/.claude/agents/plain.md': claude('Plain user'),
};

const EXTRA = {
  'project/.codex/agents/c.toml': 'name = "Codex project"\ndeveloper_instructions = "x"\n',
  'user/.codex/agents/c.toml': 'name = "Codex user"\ndeveloper_instructions = "x"\n',
  'project/.github/agents/a.agent.md': markdown('description: d'),
  'project/.github/agents/b.md': markdown('name: Copilot project'),
  'user/.copilot/agents/c.md': markdown('name: Copilot user'),
};

test('without agents the list is empty, and nothing is written', async () => {
  const { list, plain } = createAgents();
  const { agents, hidden, folders, problems } = await list({ extraFormats: true });
  expect({ agents, hidden, problems }).toEqual({ agents: [], hidden: 0, problems: [] });
  expect(plain(folders)).toEqual([
    'project/.agents',
    'home/agents',
    'user/.agents',
    'project/.codex/agents',
    'user/.codex/agents',
    'project/.claude/agents',
    'user/.claude/agents',
    'project/.github/chatmodes',
    'home/chatmodes',
    'user/.chatmodes',
    'project/.github/agents',
    'user/.copilot/agents',
  ]);
});

test('the nine documented folders are read in order, each kind with its prefix', async () => {
  const { agents, problems } = await createAgents(DOCUMENTED).list();
  expect(problems).toEqual([]);
  expect(agents.map(({ toolName, kind, dialect }) => [toolName, kind, dialect])).toEqual([
    ['agent_toml_project', 'codex', 'switchboard-toml'],
    ['agent_toml_home', 'codex', 'switchboard-toml'],
    ['agent_toml_user', 'codex', 'switchboard-toml'],
    ['anth_claude_project', 'anthropic', 'claude'],
    ['anth_claude_home', 'anthropic', 'claude'],
    ['anth_claude_user', 'anthropic', 'claude'],
    ['vsc_chat_project', 'vscode', 'chatmode'],
    ['vsc_chat_home', 'vscode', 'chatmode'],
    ['vsc_chat_user', 'vscode', 'chatmode'],
  ]);
});

test('Claude Code’s own agents are read in the same three folders, after the others', async () => {
  const { list, path } = createAgents({
    ...DOCUMENTED,
    ...CLAUDE_CODE,
    'home/agents/two.prompt.md': markdown('name: Not this'),
    'home/agents/inner/x.md': claude('Not this either'),
    'user/.claude/agents/a.chatmode.md': chatmode('Nor this'),
  });
  const { agents, problems, skipped } = await list();
  expect([problems, skipped]).toEqual([[], []]);
  const found = agents.filter(({ kind }) => kind === 'anthropic');
  expect(found.map(({ toolName, host }) => [toolName, host])).toEqual([
    ['anth_claude_project', undefined],
    ['anth_claude_home', undefined],
    ['anth_claude_user', undefined],
    ['anth_plain_project', 'claude-code'],
    ['anth_nested_project', 'claude-code'],
    ['anth_plain_home', undefined],
    ['anth_plain_user', 'claude-code'],
  ]);
  const { formats } = createAgents().settings();
  const folders = [path('home/agents')];
  const named = await list({
    formats: { ...formats, anthropic: { ...formats.anthropic, folders } },
  });
  expect(
    named.agents.filter(({ kind }) => kind === 'anthropic').map(({ toolName }) => toolName),
  ).toEqual(['anth_claude_home', 'anth_plain_home']);
});

test('a file among Claude Code’s agents that is not an agent is skipped without an error', async () => {
  const agents = createAgents({
    'project/.claude/agents/README.md': '# How we write agents\n',
    'project/.claude/agents/notes.md': markdown('title: Notes'),
    'project/.claude/agents/broken.md': '---\nname: x\n',
    'project/.claude/agents/team/fine.md': claude('Fine'),
  });
  age(
    ...['README.md', 'notes.md', 'broken.md'].map((name) =>
      agents.path(`project/.claude/agents/${name}`),
    ),
  );
  const first = await agents.list();
  expect(first.agents.map(({ name }) => name)).toEqual(['Fine']);
  expect(agents.plain(first.problems)).toEqual([
    'project/.claude/agents/broken.md:1: The front matter is not closed. Add a closing --- line. The agent is ignored.',
  ]);
  expect(agents.plain(first.skipped)).toEqual([
    'project/.claude/agents/README.md: Not an agent: no front matter.',
    'project/.claude/agents/notes.md: Not an agent: no name.',
  ]);
  // As it is remembered.
  expect(await agents.list()).toEqual(first);
});

test('other programs’ folders are read if enabled, after those of the same kind', async () => {
  const { list } = createAgents({ ...DOCUMENTED, ...CLAUDE_CODE, ...EXTRA });
  const { agents, problems } = await list({ extraFormats: true });
  expect(problems).toEqual([]);
  expect(agents.map(({ toolName, dialect }) => [toolName, dialect])).toEqual([
    ['agent_toml_project', 'switchboard-toml'],
    ['agent_toml_home', 'switchboard-toml'],
    ['agent_toml_user', 'switchboard-toml'],
    ['agent_codex_project', 'codex-toml'],
    ['agent_codex_user', 'codex-toml'],
    ['anth_claude_project', 'claude'],
    ['anth_claude_home', 'claude'],
    ['anth_claude_user', 'claude'],
    ['anth_plain_project', 'claude'],
    ['anth_nested_project', 'claude'],
    ['anth_plain_home', 'claude'],
    ['anth_plain_user', 'claude'],
    ['vsc_chat_project', 'chatmode'],
    ['vsc_chat_home', 'chatmode'],
    ['vsc_chat_user', 'chatmode'],
    ['vsc_a', 'copilot'],
    ['vsc_copilot_project', 'copilot'],
    ['vsc_copilot_user', 'copilot'],
  ]);
  const documented = await list({ extraFormats: false });
  expect(documented.agents).toHaveLength(13);
});

test.each(['codex', 'anthropic', 'vscode'] as const)(
  'the kind %s can be switched off',
  async (kind) => {
    const { list, settings } = createAgents({ ...DOCUMENTED, ...EXTRA });
    const { formats } = settings();
    const { agents } = await list({
      extraFormats: true,
      formats: { ...formats, [kind]: { ...formats[kind], isOn: false } },
    });
    expect(agents.length).toBeGreaterThan(0);
    expect(agents.map((agent) => agent.kind)).not.toContain(kind);
  },
);

test('configured folders replace the default ones and those next to them', async () => {
  const { list, settings, path } = createAgents({
    ...DOCUMENTED,
    ...EXTRA,
    'elsewhere/x.toml': toml('Elsewhere'),
  });
  const { codex, anthropic, vscode } = settings().formats;
  const { agents } = await list({
    extraFormats: true,
    formats: {
      codex: { ...codex, folders: [path('elsewhere')], prefix: 'my_' },
      anthropic: { ...anthropic, isOn: false },
      vscode: { ...vscode, folders: [] },
    },
  });
  expect(agents.map(({ toolName }) => toolName)).toEqual(['my_elsewhere']);
});

test('another program’s folder keeps its format, even if configured as one of ours', async () => {
  const { list, settings, path } = createAgents(EXTRA);
  const { codex, anthropic, vscode } = settings().formats;
  const { agents, problems } = await list({
    formats: {
      codex: { ...codex, folders: [path('project/.codex/agents')] },
      anthropic: { ...anthropic, folders: [path('project/.github/agents')] },
      vscode: { ...vscode, folders: [path('user/.copilot/agents')] },
    },
  });
  expect(problems).toEqual([]);
  expect(agents.map(({ toolName, dialect }) => [toolName, dialect])).toEqual([
    ['agent_codex_project', 'codex-toml'],
    ['anth_a', 'copilot'],
    ['vsc_copilot_user', 'copilot'],
  ]);
});

test('files in a folder are ordered by code units, and subfolders are not searched', async () => {
  const { list } = createAgents({
    'project/.agents/b.toml': toml('b'),
    'project/.agents/B.toml': toml('B1'),
    'project/.agents/a10.toml': toml('a10'),
    'project/.agents/a9.TOML': toml('a9'),
    'project/.agents/é.toml': toml('accent'),
    'project/.agents/～.toml': toml('wide'),
    'project/.agents/😀.toml': toml('face'), // by its bytes it would be the last
    'project/.agents/inner/c.toml': toml('c'),
    'project/.agents/.prompt.md': 'text',
    'project/.agents/notes.txt': 'text',
  });
  const { agents, problems } = await list();
  expect(problems).toEqual([]);
  expect(agents.map(({ name }) => name)).toEqual([
    'B1',
    'a10',
    'a9',
    'b',
    'accent',
    'face',
    'wide',
  ]);
});

test('an invalid file affects only itself, and is reported with its line', async () => {
  const { list, plain } = createAgents({
    'project/.agents/a.toml': 'description = "no name"\n',
    'project/.agents/b.toml': 'name = "x"\nname = "y"\n',
    'project/.agents/c.toml': toml('Fine'),
    'project/.agents/d.toml': 'name = "Typo"\n[run]\nsandbox_mode = "all"\nmodle = "x"\n',
    'project/.claude/agents/e.agent.md': markdown('description: no name'),
    'project/.claude/agents/f.agent.md': '---\nname: open\n',
    'project/.claude/agents/g.agent.md': 'No front matter.\n',
    'project/.claude/agents/h.agent.md': '---js\nmodule.exports = { name: "x" }\n---\n',
    'project/.claude/agents/i.agent.md': '\n\n---\nname: x\ntools: [a, b\n---\n',
    'project/.github/chatmodes/j.chatmode.md': markdown('name: no description'),
  });
  const { agents, problems } = await list();
  expect(agents.map(({ name }) => name)).toEqual(['Fine', 'Typo']);
  expect(plain(problems)).toMatchInlineSnapshot(`
    [
      "project/.agents/a.toml:1: Missing name. The agent is ignored.",
      "project/.agents/b.toml:2: Invalid TOML: trying to redefine an already defined table or value. The agent is ignored.",
      "project/.agents/d.toml:4: run.modle: unknown key. Did you mean "model"?",
      "project/.agents/d.toml:3: run.sandbox_mode: expected "read-only", "workspace-write", "danger-full-access", got "all". Ignored.",
      "project/.claude/agents/e.agent.md:2: Missing name. The agent is ignored.",
      "project/.claude/agents/f.agent.md:1: The front matter is not closed. Add a closing --- line. The agent is ignored.",
      "project/.claude/agents/g.agent.md:1: Missing front matter: keys between two --- lines. The agent is ignored.",
      "project/.claude/agents/h.agent.md:1: Front matter in "js" is not supported. Write YAML between two --- lines. The agent is ignored.",
      "project/.claude/agents/i.agent.md:5: Not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]. The agent is ignored.",
      "project/.github/chatmodes/j.chatmode.md:2: Missing description. The agent is ignored.",
    ]
  `);
});

test('the model map is not an agent, by name or by setting', async () => {
  const { list, path } = createAgents({
    'project/.agents/model-map.toml': '[[mappings]]\ntoken = "x"\nto_model = "y"\n',
    'home/agents/Model-Map.toml': '',
    'home/agents/models.toml': '[provider_aliases]\n',
  });
  expect(await list({ modelMapFile: path('home/agents/models.toml') })).toMatchObject({
    agents: [],
    problems: [],
  });
});

test('notes in folders for plain Markdown agents are ignored', async () => {
  const { list } = createAgents({
    'project/.claude/agents/README.md': '# Our agents\n',
    'project/.github/agents/README.md': '# Our agents\n',
    'project/.github/agents/bare.agent.md': 'You are bare.\n',
  });
  const { agents, problems } = await list({ extraFormats: true });
  expect(problems).toEqual([]);
  expect(agents.map(({ toolName }) => toolName)).toEqual(['vsc_bare']);
});

test('agents with the same name are all listed, and a number never takes another’s name', async () => {
  const { list } = createAgents({
    'project/.agents/a.toml': toml('Twin'),
    'project/.agents/b.toml': toml('twin!'),
    'project/.agents/c.toml': toml('Twin 2'),
    'home/agents/d.toml': toml('TWIN'),
    'home/agents/e.toml': toml('Twin 2'),
  });
  const { agents } = await list();
  expect(agents.map(({ name, safeName, toolName }) => [name, safeName, toolName])).toEqual([
    ['Twin', 'twin', 'agent_twin'],
    ['twin!', 'twin', 'agent_twin_3'],
    ['Twin 2', 'twin_2', 'agent_twin_2'],
    ['TWIN', 'twin', 'agent_twin_4'],
    ['Twin 2', 'twin_2', 'agent_twin_2_2'],
  ]);
});

test('a file found in several ways is one agent', async () => {
  const { list, path, write } = createAgents({ 'home/agents/a.toml': toml('A') });
  mkdirSync(path('user/.agents'));
  symlinkSync(path('home/agents/a.toml'), path('user/.agents/link.toml'));
  symlinkSync(path('home/agents'), path('project/.agents'));
  write('project/.claude/agents/x.agent.md', claude('X'));
  symlinkSync(path('project/.claude/agents'), path('project/.claude/agents/loop'));
  const { agents, problems } = await list({ extraFormats: true });
  expect(problems).toEqual([]);
  expect(agents.map(({ toolName }) => toolName)).toEqual(['agent_a', 'anth_x']);
  expect(agents[0]?.file).toBe(path('project/.agents/a.toml'));
});

test('nested folders are searched within limits', async () => {
  const { list, path, write, plain } = createAgents();
  for (let index = 0; index < 510; index++) {
    mkdirSync(path(`project/.claude/agents/f${index}`), { recursive: true });
  }
  write('project/.claude/agents/f0/a.md', claude('A'));
  const { agents, problems } = await list({ extraFormats: true });
  expect(agents.map(({ name }) => name)).toEqual(['A']);
  expect(plain(problems)).toEqual([
    expect.stringMatching(
      /^project\/\.claude\/agents\/f\d+: Ignored: .* contains more than 500 folders\.$/,
    ),
  ]);
});

test('only regular files are opened, and oversized ones are not read', async () => {
  const { list, path, plain, write } = createAgents({ 'project/.agents/z.toml': toml('Z') });
  execFileSync('mkfifo', [path('project/.agents/pipe.toml')]);
  symlinkSync('/dev/zero', path('project/.agents/device.toml'));
  symlinkSync('nowhere', path('project/.agents/dangling.toml'));
  mkdirSync(path('project/.agents/folder.toml'));
  write('project/.agents/large.toml', `${toml('L')}# ${'x'.repeat(1 << 20)}\n`);
  const { agents, problems } = await list();
  expect(agents.map(({ name }) => name)).toEqual(['Z']);
  expect(plain(problems)).toEqual([
    "project/.agents/dangling.toml: The file can't be read (ENOENT).",
    'project/.agents/device.toml: Ignored: not a regular file.',
    'project/.agents/pipe.toml: Ignored: not a regular file.',
    'project/.agents/large.toml: Too large (the limit is 1 MiB).',
  ]);
});

test('a folder that is a file is reported, and the rest works', async () => {
  const { list, plain, write } = createAgents({ 'home/agents/a.toml': toml('A') });
  write('project/.agents', 'a file');
  write('user/.claude', 'a file where a folder would be'); // then there is no folder in it
  const { agents, problems } = await list();
  expect(agents.map(({ name }) => name)).toEqual(['A']);
  expect(plain(problems)).toEqual(['project/.agents: Ignored: not a folder.']);
});

test('an unreadable folder is reported, and the rest works', async () => {
  const { list, path, plain } = createAgents({ 'home/agents/a.toml': toml('A') });
  symlinkSync('.agents', path('project/.agents'));
  const { agents, problems } = await list();
  expect(agents.map(({ name }) => name)).toEqual(['A']);
  expect(plain(problems)).toEqual(["project/.agents: The folder can't be read (ELOOP)."]);
});

test('a configured folder that is missing is reported, and the rest works', async () => {
  const { project, home, homeFolder, plain } = createAgents({
    'project/mine/a.toml': toml('A'),
  });
  const places = {
    ...NO_SOURCES,
    env: { AGENTS_DIRS: 'mine, nowhere', ANTHROPIC_AGENTS_DIRS: 'nowhere' },
    toml: { values: { vscode_dirs: ['~/team'] }, where: 'config.toml: agents' },
  };
  const settings = resolveAgents({ project, home, homeFolder }, places);
  const { agents, problems } = await listAgents({ settings, project, home, homeFolder });
  expect(agents.map(({ name }) => name)).toEqual(['A']);
  expect(plain(problems)).toEqual([
    'project/nowhere: The folder does not exist.',
    'user/team: The folder does not exist.',
  ]);
  const isOff = { ...settings.formats.vscode, isOn: false };
  const formats = { ...settings.formats, anthropic: isOff, vscode: isOff };
  const others = await listAgents({
    settings: { ...settings, formats },
    project,
    home,
    homeFolder,
  });
  expect(plain(others.problems)).toEqual(['project/nowhere: The folder does not exist.']);
});

test.each([
  ['a name', 'explain build failures', ['agent_explain_build_failures']],
  ['a safe name', 'explain_build_failures', ['agent_explain_build_failures']],
  ['a tag of a list', 'TRIAGE', ['agent_explain_build_failures', 'anth_researcher']],
  ['a tag of several words', 'deep research', ['anth_researcher']],
  ['a tag of a text', 'fast', ['agent_other', 'vsc_mode']],
  ['one word of several', 'other unk', ['agent_other']],
  ['each of several words', 'Other researcher', ['agent_other', 'anth_researcher']],
  ['a part of a name', 'explain', []],
])('the filter accepts %s', async (_, token, expected) => {
  const { list } = createAgents({
    'project/.agents/a.toml': 'name = "Explain Build Failures"\ntags = ["triage", "build"]\n',
    'project/.agents/b.toml': 'name = "Other"\ntags = "fast,  ,cheap small"\n',
    'project/.claude/agents/c.agent.md': markdown('name: Researcher\ntags: deep research, triage'),
    'project/.github/chatmodes/mode.chatmode.md': markdown('description: d\ntags: fast cheap'),
  });
  const { agents, hidden } = await list({ filter: [token] });
  expect(agents.map(({ toolName }) => toolName)).toEqual(expected);
  expect(hidden).toBe(4 - expected.length);
});

test('names do not depend on the filter', async () => {
  const { list } = createAgents({
    'project/.agents/a.toml': toml('Same'),
    'project/.agents/b.toml': 'name = "Same"\ntags = ["second"]\n',
  });
  const { agents } = await list({ filter: ['second'] });
  expect(agents.map(({ toolName }) => toolName)).toEqual(['agent_same_2']);
});

test('there is always a description, without hidden characters', async () => {
  const { list } = createAgents({
    'project/.agents/a.toml': toml('A'),
    'project/.agents/b.toml': 'name = "B"\ndescription = "  "\n',
    'project/.agents/c.toml': 'name = "C\\u200b"\ndescription = "x\\u202ey"\ntags = ["\\u200b"]\n',
    'project/.agents/d.toml': 'name = "\\u200b"\n',
  });
  const { agents, problems } = await list();
  expect(agents.map(({ name, description, tags }) => [name, description, tags])).toEqual([
    ['A', "Agent 'A': Execute tasks via Codex", []],
    ['B', "Agent 'B': Execute tasks via Codex", []],
    ['C', 'xy', []],
  ]);
  expect(problems).toHaveLength(1);
});

test('missing default folders are not reported', async () => {
  const { list } = createAgents();
  expect(await list(agentSettings())).toMatchObject({ agents: [], problems: [] });
});

test('problems with names, depth or encoding are reported accurately', async () => {
  const { list, plain, write } = createAgents({
    'project/.agents/a.toml': 'name = ["a"]\n',
    'project/.agents/b.toml': 'name = "B"\n\n[settings.deep]\nx = 1\n',
    'project/.claude/agents/d.agent.md': markdown(`name: D\ntools: ${'['.repeat(20_000)}`),
  });
  write('project/.agents/c.toml', Buffer.from('\ufeffname = "C"\n', 'utf16le'));
  write('project/.agents/e.toml', Buffer.from('name = "E"\ndescription = "caf\u00e9"\n', 'latin1'));
  const { agents, problems } = await list();
  expect(agents.map(({ name }) => name)).toEqual(['B', 'E']);
  expect(plain(problems)).toEqual([
    'project/.agents/a.toml:1: name: expected a string, got a list. The agent is ignored.',
    'project/.agents/b.toml:3: settings: unknown key.',
    'project/.agents/c.toml:1: The file is not UTF-8. Save it as UTF-8. The agent is ignored.',
    'project/.agents/e.toml:2: A character is not valid UTF-8 and was lost. Save the file as UTF-8.',
    'project/.claude/agents/d.agent.md:3: Not valid YAML: nested too deeply. The agent is ignored.',
  ]);
});
