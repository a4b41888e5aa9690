// A start that finds the files as they were judges nothing again.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOpenedFile } from '../../../src/base/read-text.ts';
import type { BasisText, Subject } from '../../../src/config/judge.ts';
import { recordDecisions } from '../../../src/trust/approvals/decide.ts';
import { FileJudge } from '../../../src/trust/approvals/judge.ts';
import { createProject, type Project } from '../config/temp-project.ts';

const CONTENT = { command: 'node' };

function judgeOf({ folder, homeFolder }: Project): FileJudge {
  const home = join(homeFolder, '.switchboard');
  const folders = { project: folder, home, homeFolder };
  return new FileJudge({ mode: 'repository', directories: [] }, folders);
}

function subjectOf(basis: readonly BasisText[], more: Partial<Subject> = {}): Subject {
  return {
    kind: 'settings',
    name: 'switchboard.config.json',
    file: '/app/switchboard.config.json',
    origin: 'foreign',
    content: () => CONTENT,
    basis,
    ...more,
  };
}

/** It would be judged, and not only recognized. */
const judged = () => {
  throw new Error('judged');
};

async function approvedProject(...basis: BasisText[]): Promise<Project> {
  const project = createProject({ 'home/.switchboard/switchboard.config.json': {} });
  const first = judgeOf(project);
  expect(first.decide(subjectOf(basis))).toBe('pending');
  await recordDecisions(join(project.homeFolder, '.switchboard'), first.judged, 'approved');
  const second = judgeOf(project);
  expect(second.decide(subjectOf(basis))).toBe('approved');
  second.save();
  return project;
}

test('files that were approved are recognized by their stamps, or by their texts', async () => {
  const project = await approvedProject({ text: 'a', stamp: '1' });
  for (const basis of [
    { text: 'a', stamp: '1' },
    { text: 'a', stamp: '2' },
    { text: 'a', stamp: undefined },
  ]) {
    expect(judgeOf(project).decide(subjectOf([basis], { content: judged }))).toBe('approved');
  }
});

test('a changed file, another file and other kinds of parts are judged', async () => {
  const project = await approvedProject({ text: 'a', stamp: '1' });
  const same = { text: 'a', stamp: '1' };
  for (const subject of [
    subjectOf([{ text: 'b', stamp: '2' }]),
    subjectOf([same, { text: 'b', stamp: '2' }]),
    subjectOf([same], { file: '/app/other.json' }),
    subjectOf([same], { kind: 'hooks' }),
    subjectOf([same], { touches: ['replaces your server "a"'] }),
  ]) {
    expect(() => judgeOf(project).decide({ ...subject, content: judged })).toThrow('judged');
  }
});

test('a file without a stamp does not lend one to the others', async () => {
  const project = await approvedProject({ text: 'a', stamp: '1' }, { text: 'b' });
  const basis = [{ text: 'a', stamp: '1' }, { text: 'c' }];
  expect(() => judgeOf(project).decide(subjectOf(basis, { content: judged }))).toThrow('judged');
});

test('revoking an approval forgets the stamps', async () => {
  const project = await approvedProject({ text: 'a', stamp: '1' });
  const basis = [{ text: 'a', stamp: '1' }];
  const home = join(project.homeFolder, '.switchboard');
  const lists = { project: project.folder, home, homeFolder: project.homeFolder };
  const listing = new FileJudge({ mode: 'repository', directories: [] }, lists, { lists: true });
  listing.decide(subjectOf(basis));
  await recordDecisions(home, listing.judged, 'revoked');
  expect(judgeOf(project).decide(subjectOf(basis))).toBe('pending');
});

test('a file has a stamp only if its last change was a while ago, and another one after each', () => {
  const project = createProject({ 'a.json': {} });
  const file = join(project.folder, 'a.json');
  const later = Date.now() + 60_000;
  const stampAt = (now: number) => {
    const read = readOpenedFile(file, undefined, now);
    return 'stamp' in read ? read.stamp : 'none';
  };
  expect(stampAt(Date.now())).toBeUndefined();
  const before = stampAt(later);
  expect(stampAt(later)).toBe(before);
  expect(before).toMatch(/^[\d./]+$/);
  writeFileSync(file, '[1]');
  expect(stampAt(later)).not.toBe(before);
});

test('a decision that is made between a start and its record counts', async () => {
  const project = createProject({ 'home/.switchboard/switchboard.config.json': {} });
  const home = join(project.homeFolder, '.switchboard');
  const subject = subjectOf([{ text: 'a', stamp: '1' }], { origin: 'yours' });
  const starting = judgeOf(project);
  expect(starting.decide(subject)).toBe('approved');
  const other = judgeOf(project);
  other.decide(subject);
  await recordDecisions(home, other.judged, 'denied');
  starting.save();
  expect(judgeOf(project).decide(subject)).toBe('denied');
});
