// A hash of a file's text stands for approvals of exactly the parts that were approved, and for no others in that file.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordDecisions } from '../../../src/trust/approvals/decide.ts';
import { judgeOpener, saveJudged } from '../../../src/trust/approvals/open.ts';
import { commitAll } from '../../support/git.ts';
import { createProject, type Project } from '../config/temp-project.ts';

/** As a host loads it, which remembers what is approved. */
async function start(project: Project) {
  const config = await project.load({ openJudge: judgeOpener() });
  saveJudged(config);
  return config;
}

async function decide(project: Project, decision: 'approved' | 'denied', command: string) {
  const { gate } = await project.load({ openJudge: judgeOpener({ lists: true }) });
  const found = gate?.judge?.judged.filter(({ content }) =>
    JSON.stringify(content).includes(command),
  );
  await recordDecisions(join(project.homeFolder, '.switchboard'), found ?? [], decision);
}

const commandOf = async (project: Project, name: string) =>
  (await start(project)).children.get(name)?.command?.cmd;

const USER_FILE = '../home/.switchboard/switchboard.config.json';

test.each(['pending', 'denied'] as const)(
  "a %s server with the name of the user's stays inert once the user's is gone",
  async (status) => {
    const project = createProject({
      [USER_FILE]: { mcpServers: { files: { command: 'mine' } } },
      'switchboard.config.json': {
        mcpServers: { files: { command: 'evil' }, other: { command: 'good' } },
      },
    });
    commitAll(project.folder);
    if (status === 'denied') await decide(project, 'denied', 'evil');
    await decide(project, 'approved', 'good');
    expect(await commandOf(project, 'files')).toBe('mine');
    project.write(USER_FILE, {});
    expect(await commandOf(project, 'files')).toBeUndefined();
    expect(await commandOf(project, 'other')).toBe('good');
  },
);

test('a denied server stays inert when the one that was used instead is gone', async () => {
  const project = createProject({
    'mcps/one/.mcp.json': { name: 'one', command: 'good' },
    '.switchboard/servers.json': { one: { command: 'evil' }, other: { command: 'fine' } },
  });
  commitAll(project.folder);
  await decide(project, 'denied', 'evil');
  await decide(project, 'approved', 'good');
  await decide(project, 'approved', 'fine');
  expect(await commandOf(project, 'one')).toBe('good');
  rmSync(join(project.folder, 'mcps'), { recursive: true });
  expect(await commandOf(project, 'one')).toBeUndefined();
  expect(await commandOf(project, 'other')).toBe('fine');
});
