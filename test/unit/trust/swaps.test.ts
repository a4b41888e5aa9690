// Another program replaces files all the time while the configuration is read. What came with the repository is never
// used, and what is used is exactly what was approved.
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { recordDecisions } from '../../../src/trust/approvals/decide.ts';
import { judgeOpener } from '../../../src/trust/approvals/open.ts';
import { commitAll } from '../../support/git.ts';
import { createProject, type Project } from '../../support/project.ts';

const SWAPS = 1_000;

/** Replaces the path by each of the targets in turn: by links to them, or by copies. */
function swapping(path: string, targets: readonly string[], kind: 'link' | 'copy'): () => number {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const code = `
    const { copyFileSync, renameSync, symlinkSync } = require('node:fs');
    const { path, targets, kind, shared } = require('node:worker_threads').workerData;
    const put = kind === 'link' ? symlinkSync : copyFileSync;
    for (let round = 0; ; round++) {
      put(targets[round % targets.length], path + '.new');
      renameSync(path + '.new', path);
      Atomics.add(shared, 0, 1);
    }`;
  const worker = new Worker(code, { eval: true, workerData: { path, targets, kind, shared } });
  onTestFinished(async () => void (await worker.terminate()));
  return () => Atomics.load(shared, 0);
}

function load({ dir, env }: Project, lists = false) {
  return loadConfig({ cwd: dir, env, openJudge: judgeOpener({ lists }) });
}

/** Loads the configuration until there were enough swaps, and counts what server "one" was. */
async function outcomes(project: Project, swaps: () => number): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (let loads = 0; swaps() < SWAPS || loads < 200; loads++) {
    let outcome = 'none';
    try {
      const { children } = await load(project);
      const one = children.get('one');
      outcome = one?.problem?.code ?? one?.command?.cmd ?? 'none';
    } catch {
      outcome = 'error';
    }
    found[outcome] = (found[outcome] ?? 0) + 1;
  }
  expect(swaps()).toBeGreaterThanOrEqual(SWAPS);
  return found;
}

const json = (cmd: string) => JSON.stringify({ mcpServers: { one: { command: cmd } } });

test.each(['link', 'copy'] as const)('an approved file, swapped as a %s', async (kind) => {
  const project = createProject({ 'a.json': json('approved'), 'b.json': json('hostile') });
  const { dir, env } = project;
  const path = project.write('switchboard.config.json', json('approved'));
  project.write('.gitignore', 'home\n');
  commitAll(dir);
  const { gate } = await load(project, true);
  const home = join(env['HOME'] ?? '', '.switchboard');
  await recordDecisions(home, gate?.judge?.judged ?? [], 'approved');
  const targets = ['a.json', 'b.json'].map((name) => join(dir, name));
  const found = await outcomes(project, swapping(path, targets, kind));
  expect(found).not.toHaveProperty('hostile');
  expect(found).toMatchObject({
    approved: expect.any(Number) as number,
    APPROVAL_NEEDED: expect.any(Number) as number,
  });
});

test.each(['cjs', 'mjs'])(
  "a script of the user's (%s), swapped with a tracked one",
  async (ext) => {
    const project = createProject({ '.gitignore': 'home\nown\nswitchboard.config.*\n' });
    const { dir } = project;
    const mark = join(dir, 'home/ran.txt');
    mkdirSync(join(dir, 'home'));
    const isCommonJs = ext === 'cjs';
    const exporting = (value: string) =>
      isCommonJs ? `module.exports = ${value};` : `export default ${value};`;
    const writing = isCommonJs
      ? "const { writeFileSync } = require('node:fs');"
      : "import { writeFileSync } from 'node:fs';";
    const tracked = project.write(
      `tracked.${ext}`,
      `${writing}\nwriteFileSync(${JSON.stringify(mark)}, 'ran');\n${exporting(json('hostile'))}\n`,
    );
    commitAll(dir);
    const own = project.write(`own/own.${ext}`, `${exporting(json('own'))}\n`);
    const path = join(dir, `switchboard.config.${ext}`);
    writeFileSync(`${path}.first`, exporting(json('own')));
    renameSync(`${path}.first`, path);
    const found = await outcomes(project, swapping(path, [own, tracked], 'link'));
    expect(found).not.toHaveProperty('hostile');
    expect({ hasRun: existsSync(mark) }).toEqual({ hasRun: false });
    expect(found).toMatchObject({ own: expect.any(Number) as number });
  },
);
