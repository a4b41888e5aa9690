// What can't be read can't be judged: it never runs, and a cloned project can't keep the user's servers from starting.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { judgeOpener } from '../../../src/trust/approvals/open.ts';
import { commitAll } from '../../support/git.ts';
import { createProject, type Project } from './temp-project.ts';

const TOO_LONG = ' '.repeat(17 << 20);

/** Leaves a mark if it runs. */
function scriptFor(project: Project, end: string): string {
  const mark = JSON.stringify(join(project.homeFolder, 'mark'));
  return end === 'cjs'
    ? `require('node:fs').writeFileSync(${mark}, '');\nmodule.exports = {};${TOO_LONG}`
    : `import { writeFileSync } from 'node:fs';\nwriteFileSync(${mark}, '');\nexport default {};${TOO_LONG}`;
}

const load = (project: Project) => project.load({ openJudge: judgeOpener() });

describe.each(['js', 'cjs', 'mjs'])('a script that is too long to be judged, .%s', (end) => {
  test.each(['yours', 'tracked'])('never runs: %s', async (origin) => {
    const project = createProject({ 'package.json': { type: 'module' } });
    project.write(`switchboard.config.${end}`, scriptFor(project, end));
    if (origin === 'tracked') commitAll(project.folder);
    await load(project).catch(() => {});
    expect(existsSync(join(project.homeFolder, 'mark'))).toBe(false);
  });
});

test.each([
  ['switchboard.config.json', 'switchboard.config.json/folder'],
  ['switchboard.config.json', 'switchboard.config.json'],
  ['switchboard.config.mjs', 'switchboard.config.mjs/folder'],
  ['.switchboard/servers.json', '.switchboard/servers.json/folder'],
])("in a cloned project, %s is ignored, and the user's servers work", async (file, planted) => {
  const project = createProject({
    '../home/.switchboard/switchboard.config.json': { mcpServers: { mine: { command: 'x' } } },
    [planted]: TOO_LONG,
  });
  commitAll(project.folder);
  const { children, warnings } = await load(project);
  expect([...children.keys()]).toEqual(['mine']);
  expect(warnings.map(project.plain)).toEqual([
    expect.stringMatching(`^<project>/${file}: .* The file is ignored\\.$`),
  ]);
});
