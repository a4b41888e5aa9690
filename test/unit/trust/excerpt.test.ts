// A start reads the excerpt for its project instead of all decisions, as long as those are unchanged.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { readOpenedFile } from '../../../src/base/read-text.ts';
import type { Subject } from '../../../src/config/judge.ts';
import { recordDecisions } from '../../../src/trust/approvals/decide.ts';
import { keepExcerpt, readExcerpt } from '../../../src/trust/approvals/excerpt.ts';
import { FileJudge } from '../../../src/trust/approvals/judge.ts';
import { changeTrustStore, readTrustStore } from '../../../src/trust/approvals/store.ts';
import { createProject, type Project } from '../config/temp-project.ts';

/** So that files written by a test have settled. */
const LATER_MS = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + LATER_MS });
  return () => vi.useRealTimers();
});

function homeOf({ homeFolder }: Project): string {
  return join(homeFolder, '.switchboard');
}

function judgeOf(project: Project): FileJudge {
  const { folder, homeFolder } = project;
  const folders = { project: folder, home: homeOf(project), homeFolder };
  return new FileJudge({ mode: 'repository', directories: [] }, folders);
}

function subjectIn({ folder }: Project, more: Partial<Subject> = {}): Subject {
  return {
    kind: 'settings',
    name: 'switchboard.config.json',
    file: join(folder, 'switchboard.config.json'),
    origin: 'foreign',
    content: () => ({ command: 'node' }),
    basis: [{ text: 'a', stamp: '1' }],
    ...more,
  };
}

function originIn(project: Project, name: string): string {
  const file = join(project.folder, name);
  const read = readOpenedFile(file);
  if ('problem' in read) throw new Error(read.problem);
  return judgeOf(project).originOf(file, read);
}

/** A project with one approved part, after enough starts to have an excerpt. */
async function startedProject(files: Record<string, unknown> = {}): Promise<Project> {
  const project = createProject({ 'home/.switchboard/switchboard.config.json': {}, ...files });
  const first = judgeOf(project);
  first.decide(subjectIn(project));
  await recordDecisions(homeOf(project), first.judged, 'approved');
  for (let starts = 0; starts < 2; starts++) {
    const judge = judgeOf(project);
    expect(judge.decide(subjectIn(project))).toBe('approved');
    judge.save();
  }
  return project;
}

function excerptOf(project: Project) {
  return readExcerpt(homeOf(project), project.folder);
}

/** What is said without the decisions themselves, whose file isn't the one the excerpt was taken from. */
function decideFromExcerptAlone(project: Project): string {
  const file = join(homeOf(project), 'trust.json');
  const stats = statSync(file);
  // The same file for those who look at its stamp only.
  const { dev, ino, size, mtimeMs, ctimeMs } = stats;
  const [name = ''] = readdirSync(join(homeOf(project), 'cache', 'trust'));
  const excerpt = join(homeOf(project), 'cache', 'trust', name);
  const kept = readFileSync(excerpt, 'utf8');
  writeFileSync(file, ' '.repeat(size));
  const spoiled = statSync(file);
  const stampOf = (one: { mtimeMs: number; ctimeMs: number }) =>
    [dev, ino, size, one.mtimeMs, one.ctimeMs].join('/');
  expect(kept).toContain(stampOf({ mtimeMs, ctimeMs }));
  writeFileSync(excerpt, kept.replace(stampOf({ mtimeMs, ctimeMs }), stampOf(spoiled)));
  return judgeOf(project).decide(subjectIn(project));
}

test('what was approved is recognized without the decisions', async () => {
  const project = await startedProject();
  expect(decideFromExcerptAlone(project)).toBe('approved');
});

test('a denial counts at once', async () => {
  const project = await startedProject();
  const judge = judgeOf(project);
  judge.decide(subjectIn(project, { basis: undefined }));
  await recordDecisions(homeOf(project), judge.judged, 'denied');
  expect(excerptOf(project)).toBeUndefined();
  expect(judgeOf(project).decide(subjectIn(project))).toBe('denied');
});

test('a part that the excerpt lacks is looked up among the decisions, and added', async () => {
  const project = await startedProject();
  const other = subjectIn(project, { name: 'other', basis: [{ text: 'b', stamp: '2' }] });
  const judge = judgeOf(project);
  judge.decide(other);
  await recordDecisions(homeOf(project), judge.judged, 'approved');
  for (let starts = 0; starts < 2; starts++) {
    const next = judgeOf(project);
    expect(next.decide(starts === 0 ? other : subjectIn(project))).toBe('approved');
    next.save();
  }
  expect(excerptOf(project)?.batches.size).toBe(1);
  const last = judgeOf(project);
  expect(last.decide(other)).toBe('approved');
  last.save();
  expect(excerptOf(project)?.batches.size).toBe(2);
});

test('a file that came with a repository stays foreign', async () => {
  const project = await startedProject({ 'a.json': {} });
  const stamp = (file: string) => {
    const read = readOpenedFile(file);
    return 'stamp' in read ? (read.stamp ?? '') : '';
  };
  const file = join(project.folder, 'a.json');
  expect(originIn(project, 'a.json')).toBe('yours');
  await changeTrustStore(homeOf(project), { foreign: new Map([[file, stamp(file)]]) });
  const judge = judgeOf(project);
  judge.decide(subjectIn(project));
  judge.save();
  expect(excerptOf(project)?.foreign.size).toBe(1);
  expect(originIn(project, 'a.json')).toBe('foreign');
});

test.each<[string, (home: string) => unknown]>([
  ['were changed', (home) => changeTrustStore(home, { announced: ['x'] })],
  ['were removed', (home) => rmSync(join(home, 'trust.json'))],
])('it no longer counts once the decisions %s', async (_what, change) => {
  const project = await startedProject();
  expect(excerptOf(project)).toBeDefined();
  await change(homeOf(project));
  expect(excerptOf(project)).toBeUndefined();
});

test('another project, a damaged excerpt and one of another form are not used', async () => {
  const project = await startedProject();
  const home = homeOf(project);
  const [name = ''] = readdirSync(join(home, 'cache', 'trust'));
  const file = join(home, 'cache', 'trust', name);
  const kept = readFileSync(file, 'utf8');
  for (const text of [
    '{',
    '[]',
    kept.replace('"form":1', '"form":0'),
    kept.replace(project.folder, '/x'),
  ]) {
    writeFileSync(file, text);
    expect(excerptOf(project)).toBeUndefined();
    expect(judgeOf(project).decide(subjectIn(project))).toBe('approved');
  }
});

test('nothing is kept while the decisions may be changing, or if they are not there', async () => {
  vi.useRealTimers();
  const project = createProject({ 'home/.switchboard/switchboard.config.json': {} });
  const home = homeOf(project);
  keepExcerpt(home, project.folder, readTrustStore(home), []);
  await changeTrustStore(home, {});
  keepExcerpt(home, project.folder, readTrustStore(home), []);
  expect(existsSync(join(home, 'cache'))).toBe(false);
});

test('a home that cannot be written to keeps nothing', async () => {
  const project = await startedProject();
  const home = homeOf(project);
  const store = readTrustStore(home);
  rmSync(join(home, 'cache'), { recursive: true });
  writeFileSync(join(home, 'cache'), '');
  onTestFinished(() => rmSync(join(home, 'cache')));
  keepExcerpt(home, project.folder, store, ['a']);
  expect(excerptOf(project)).toBeUndefined();
});
