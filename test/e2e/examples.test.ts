// The examples, as somebody sees them who has cloned this repository: they wait, and work after the commands that their
// pages name. A copy in a folder of one's own works at once.
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand, runSwitchboard } from '../support/command.ts';
import { commitAll } from '../support/git.ts';
import { createProject, PROGRAM, type Project, ROOT } from '../support/project.ts';
import { RawHost, textOf, toolsOf } from '../support/raw-host.ts';
import { MOCK_CHILD } from '../support/servers.ts';

const EXAMPLES = {
  'filesystem-and-memory': ['filesystem_suite', 'memory_suite'],
  playwright: ['browser_suite'],
  agents: [
    'agent_explain_build_failures',
    'agent_supervisor',
    'agent_log_reader',
    'anth_deep_researcher',
    'anth_api_reviewer',
    'vsc_planning',
    'vsc_release_notes',
  ],
};

const WAITING = 'Waiting for approval. Run: switchboard trust';
const ENV = { AGENTS_EXTRA_FORMATS: 'true' };

/** The project is the example; its repository, if it has one, contains all of them. */
function copyOf(example: string, isCloned: boolean): Project {
  const repository = createProject();
  cpSync(join(ROOT, 'examples'), join(repository.dir, 'examples'), { recursive: true });
  if (isCloned) commitAll(repository.dir);
  return { ...repository, dir: join(repository.dir, 'examples', example) };
}

async function usableTools(project: Project): Promise<string[]> {
  const host = await RawHost.connect(project, { env: ENV });
  const tools = toolsOf(await host.request('tools/list'));
  await host.close();
  return tools.filter(({ description }) => description !== WAITING).map(({ name }) => name);
}

describe.each(Object.entries(EXAMPLES))('%s', (example, tools) => {
  test('waits in a clone until it is approved as its page says', async () => {
    const project = copyOf(example, true);
    expect(await usableTools(project)).toEqual([]);

    const page = readFileSync(join(project.dir, 'README.md'), 'utf8');
    const lines = page.match(/(?:[A-Z_]+=\S+ )*switchboard trust approve --all/g) ?? [];
    const program = `switchboard() { "${process.execPath}" "${PROGRAM}" "$@"; }`;
    const { dir: cwd, env } = project;
    const { status, stderr } = await runCommand('bash', ['-ec', [program, ...lines].join('\n')], {
      cwd,
      env,
    });
    expect(status, stderr).toBe(0);

    expect((await usableTools(project)).sort()).toEqual(tools.toSorted());
    const specialists = { AGENTS_DIRS: '.agents/specialists' };
    for (const more of [ENV, example === 'agents' ? specialists : {}]) {
      const { stdout } = await runSwitchboard(project, ['trust', '--json'], { env: more });
      const { items } = JSON.parse(stdout) as { items: { status: string }[] };
      expect([...new Set(items.map((item) => item.status))]).toEqual(['approved']);
    }
  });

  test('works right away as a copy', async () => {
    expect((await usableTools(copyOf(example, false))).sort()).toEqual(tools.toSorted());
  });
});

test('every kind of file works without approval if it was created here', async () => {
  const server = (more: object = {}) => ({ ...MOCK_CHILD, ...more });
  const project = createProject({
    'switchboard.config.mjs': `export default ${JSON.stringify({ mcpServers: { script: server() } })};\n`,
    '.switchboard/servers.json': { flipped: server({ show: 'suite' }) },
    '.switchboard/mcps/child/.mcp.json': { name: 'child', ...server() },
    'mcps/helped/.mcp.json': { name: 'helped', ...server() },
    'mcps/helped/CLAUDE.md': 'You help.\n',
    'mcp-descriptions.json': { mcps: { child: { switchboard: 'My own words.' } } },
    '.agents/one.toml': 'name = "one"\ndescription = "One."\n',
    '.agents/one.prompt.md': 'Do one thing.\n',
    '.claude/agents/two.md': '---\nname: two\ndescription: Two.\n---\nDo two things.\n',
    '.github/chatmodes/three.chatmode.md': '---\ndescription: Three.\n---\nDo three things.\n',
  });
  const host = await RawHost.connect(project);
  const tools = toolsOf(await host.request('tools/list'));
  expect(tools.filter(({ description }) => description === WAITING)).toEqual([]);
  expect(tools.map(({ name }) => name).sort()).toEqual([
    'agent_one',
    'anth_two',
    'child_suite',
    'flipped_suite',
    'helped_suite',
    'script_suite',
    'vsc_three',
  ]);
  for (const name of ['script', 'flipped', 'child', 'helped']) {
    expect(textOf(await host.call(name, 'echo', { text: name }))).toContain(name);
  }
  expect(await host.lastWords()).not.toContain('approval');
  const { stdout } = await runSwitchboard(project, ['trust', '--json']);
  const { items } = JSON.parse(stdout) as { items: { status: string }[] };
  expect([...new Set(items.map(({ status }) => status))]).toEqual(['approved']);
});
