// Agents that come with a project: what they may ask for, where their instructions may be, and what only the user
// decides.
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Agent } from '../../../src/agents/agent.ts';
import { MODEL_TABLE } from '../../../src/agents/codex/model-table.ts';
import { judgeAgentFiles } from '../../../src/agents/judged.ts';
import { listAgents } from '../../../src/agents/list.ts';
import { loadAgent } from '../../../src/agents/load.ts';
import type { JudgedSubject } from '../../../src/config/judge.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { recordDecisions } from '../../../src/trust/approvals/decide.ts';
import { describeSubject } from '../../../src/trust/approvals/describe.ts';
import { judgeOpener } from '../../../src/trust/approvals/open.ts';
import type { DecidedBy } from '../../../src/trust/approvals/store.ts';
import { commitAll } from '../../support/git.ts';
import { createAgents } from './temp-agents.ts';

const OPEN = `name = "Open"
instructions = "Go."
[run]
sandbox_mode = "danger-full-access"
approval_policy = "never"
`;
const FILE = 'project/.agents/open.toml';

function setUp(files: Record<string, string>, trust?: string) {
  const folders = createAgents(files);
  const { project, home, homeFolder } = folders;
  const env = { HOME: homeFolder, SWITCHBOARD_HOME: home };
  const open = () =>
    loadConfig({ cwd: project, env, trust, openJudge: judgeOpener({ lists: true }) });
  const judged = async (): Promise<readonly JudgedSubject[]> => {
    const config = await open();
    await judgeAgentFiles(config, env);
    config.gate?.judge?.save();
    return config.gate?.judge?.judged ?? [];
  };
  const approve = async (by?: DecidedBy) => recordDecisions(home, await judged(), 'approved', by);
  const load = async (usersProvider?: string): Promise<Agent> => {
    const { gate, agents: settings } = await open();
    const { agents } = await listAgents({ settings, project, home, homeFolder, gate });
    const [agent] = agents;
    if (!agent) throw new Error('There is no agent.');
    const engine = { models: MODEL_TABLE, configuredProvider: async () => usersProvider };
    return loadAgent(agent, { settings, project, homeFolder, engine, gate });
  };
  const failure = async () => {
    const error: unknown = await load().catch((thrown: unknown) => thrown);
    if (!(error instanceof Error)) throw new Error('It was loaded.');
    return folders.plain([error.message])[0] ?? '';
  };
  return { ...folders, open, judged, approve, load, failure };
}

const FULL = { sandbox: 'danger-full-access', approvals: 'never' };
const LIMITED = { sandbox: 'workspace-write', approvals: 'on-request' };

test('an agent created here is limited, and says so, until the user approves what it asks for', async () => {
  const { load, judged, approve, write } = setUp({ [FILE]: OPEN });
  const limited = await load();
  expect(limited.run).toEqual(LIMITED);
  expect(limited.limits).toEqual([
    "The agent's sandbox_mode is workspace-write instead of danger-full-access, because you haven't approved that. To approve it, run: switchboard trust approve open",
    "The agent's approval_policy is on-request instead of never, because you haven't approved that. To approve it, run: switchboard trust approve open",
  ]);
  const [one] = await judged();
  if (!one) throw new Error('Nothing was judged.');
  expect(one).toMatchObject({ verdict: 'approved', isLimited: true });
  expect(describeSubject(one)[0]).toBe('runs with danger-full-access, without asking');

  await approve('first-sight');
  expect((await load()).run).toEqual(LIMITED);
  await approve();
  expect(await load()).toMatchObject({ run: FULL, limits: [] });
  expect(await judged()).toMatchObject([{ verdict: 'approved', isLimited: false }]);
  write(FILE, `${OPEN}# changed\n`);
  expect((await load()).run).toEqual(LIMITED);
});

test.each([
  [
    'sandbox_mode = "danger-full-access"',
    'runs with danger-full-access',
    { sandbox: 'workspace-write' },
  ],
  ['approval_policy = "never"', 'runs without asking', { approvals: 'on-request' }],
  [
    'sandbox_mode = "workspace-write"\napproval_policy = "untrusted"',
    undefined,
    { sandbox: 'workspace-write', approvals: 'untrusted' },
  ],
])('each right is limited by itself: %s', async (keys, right, run) => {
  const { load, judged } = setUp({
    [FILE]: `name = "Open"\ninstructions = "Go."\n[run]\n${keys}\n`,
  });
  expect((await load()).run).toEqual(run);
  expect((await judged()).flatMap(({ subject }) => subject.rights ?? [])).toEqual(
    right === undefined ? [] : [right],
  );
});

test('an approval that did not show them grants no rights', async () => {
  const { load, judged, approve, project, home } = setUp({ [FILE]: OPEN });
  commitAll(project);
  const seen = await judged();
  expect(seen).toMatchObject([{ verdict: 'pending' }]);
  const withoutRights = ({ subject, ...one }: JudgedSubject): JudgedSubject =>
    Object.assign({ subject: { ...subject, rights: undefined } }, one);
  const blind = seen.map(withoutRights);
  await recordDecisions(home, blind, 'approved');
  expect((await load()).run).toEqual(LIMITED);
  await approve();
  expect((await load()).run).toEqual(FULL);
});

test("the user's own agents, and all if everything is trusted, run as written", async () => {
  expect((await setUp({ 'home/agents/open.toml': OPEN }).load()).run).toEqual(FULL);
  const { load, project } = setUp({ [FILE]: OPEN }, 'all');
  commitAll(project);
  expect((await load()).run).toEqual(FULL);
});

const ELSEWHERE = `name = "Else"
instructions = "Go."
[run]
model = "gpt-5"
model_provider = "theirs"
chatgpt_base_url = "https://example.com"
`;

test("a project's agent chooses neither an address nor a provider", async () => {
  const { load, plain } = setUp({ [FILE]: ELSEWHERE });
  const { run, warnings } = await load();
  expect(run).toEqual({ model: 'gpt-5' });
  expect(plain(warnings)).toEqual([
    `${FILE}: chatgpt_base_url is ignored in a project's agent. Set it in the engine's own configuration.`,
    `${FILE}: model_provider is ignored in a project's agent. Set it in the engine's own configuration.`,
  ]);
  const users = await setUp({ 'home/agents/else.toml': ELSEWHERE }).load();
  expect(users.run).toEqual({ model: 'gpt-5', provider: 'theirs', baseUrl: 'https://example.com' });
});

test('a provider that is used anyway needs no warning', async () => {
  const text = 'name = "A"\ninstructions = "Go."\n[run]\nmodel_provider = "OpenAI"\n';
  expect((await setUp({ [FILE]: text }).load()).warnings).toEqual([]);
  const { load } = setUp({ [FILE]: text.replace('OpenAI', 'mine') });
  expect((await load('mine')).warnings).toEqual([]);
  expect((await load()).warnings).toHaveLength(1);
});

test("a project's model map chooses models, but no provider", async () => {
  const map = `[[mappings]]
token = "best"
to_model = "gpt-9"
to_provider = "theirs"
[provider_aliases]
Mine = "theirs"
`;
  const agent = 'name = "A"\ninstructions = "Go."\n[run]\nmodel = "best"\n';
  const { load, plain } = setUp({ [FILE]: agent, 'project/.agents/model-map.toml': map });
  const { run, warnings } = await load();
  expect(run).toEqual({ model: 'gpt-9' });
  const why =
    "is ignored in a project's file. To choose a provider, set AGENTS_MODEL_MAP_FILE to a file of your own.";
  expect(plain(warnings)).toEqual([
    `project/.agents/model-map.toml:1: mappings[0]: to_provider ${why}`,
    `project/.agents/model-map.toml:5: provider_aliases ${why}`,
  ]);
});

test("the engine's program and home come only from the user", async () => {
  const agents = {
    codexBin: './codex',
    codexHome: '.codex',
    vscodeUserMcp: 'mcp.json',
    approvals: 'ask',
    maxRuns: 3,
  };
  const { open, plain, write, path } = setUp({
    'project/switchboard.config.json': JSON.stringify({ agents }),
  });
  const ofProject = await open();
  expect(ofProject.agents).toMatchObject({ codexBin: undefined, codexHome: undefined, maxRuns: 3 });
  const ignored = (key: string) =>
    `project/switchboard.config.json: agents.${key} is ignored here. Set it in your own configuration.`;
  expect(plain(ofProject.warnings)).toEqual(
    ['codexBin', 'codexHome', 'vscodeUserMcp'].map(ignored),
  );
  write(
    'home/switchboard.config.json',
    JSON.stringify({ agents: { codexHome: path('user/c'), approvals: 'decline' } }),
  );
  const both = await open();
  expect(both.agents).toMatchObject({ codexHome: path('user/c'), approvals: 'decline' });
  expect(plain(both.warnings)).toContain(ignored('approvals'));
});

const withInstructions = (path: string) =>
  `name = "A"\ninstructions_file = ${JSON.stringify(path)}\n`;

test.each([
  ['in the home', '~/.ssh/id_rsa'],
  ['by an absolute path', '/etc/hostname'],
  ['by dots', '../../user/.ssh/id_rsa'],
])(
  'instructions outside the project are an error, whether they exist or not: %s',
  async (_, path) => {
    const files = { [FILE]: withInstructions(path), 'user/.ssh/id_rsa': 'KEY' };
    const text = `Agent "A" can't be loaded. ${FILE}: instructions_file: ${JSON.stringify(path)} is outside the project.`;
    expect(await setUp(files).failure()).toBe(text);
    const missing = withInstructions(path.replace(/\w+$/, 'missing'));
    expect(await setUp({ [FILE]: missing }).failure()).toContain('is outside the project.');
  },
);

test('so are links that point outside it, and their targets are never shown', async () => {
  const { failure, judged, project, path } = setUp({
    [FILE]: withInstructions('prompts/a.md'),
    'project/prompts/b.md': 'Fine.',
    'user/.ssh/id_rsa': 'KEY',
  });
  symlinkSync(path('user/.ssh/id_rsa'), join(project, 'prompts/a.md'));
  expect(await failure()).toContain('"prompts/a.md" is outside the project.');
  expect((await judged()).map(({ subject }) => subject.kind)).toEqual(['agent']);
});

test("the user's agents may use files in their folder, the home and the project", async () => {
  const agent = 'home/agents/a.toml';
  const beside = setUp({ [agent]: withInstructions('a.md'), 'home/agents/a.md': 'Beside.' });
  expect((await beside.load()).instructions).toBe('Beside.');
  const mine = setUp({ [agent]: withInstructions('~/a.md'), 'user/a.md': 'Mine.' });
  expect((await mine.load()).instructions).toBe('Mine.');
  const other = setUp({ [agent]: withInstructions('/etc/hostname') });
  expect(await other.failure()).toContain(
    "is outside the agent's folder, your home and the project.",
  );
});

test('an approval is for the instructions as they were, even if a link points elsewhere later', async () => {
  const { load, approve, failure, project } = setUp({
    [FILE]: withInstructions('prompts/a.md'),
    'project/prompts/good.md': 'Be good.',
    'project/prompts/bad.md': 'Be bad.',
  });
  const link = join(project, 'prompts/a.md');
  symlinkSync('good.md', link);
  commitAll(project);
  await approve();
  expect((await load()).instructions).toBe('Be good.');
  rmSync(link);
  symlinkSync('bad.md', link);
  expect(await failure()).toContain('needs your approval');
});
