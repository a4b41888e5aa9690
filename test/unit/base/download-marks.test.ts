// Marks of downloaded files. Stand-ins take the place of the systems that set them.
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DownloadMarks } from '../../../src/base/download-marks.ts';
import { FileJudge } from '../../../src/trust/approvals/judge.ts';
import { temporaryFolder } from '../../support/fake-child.ts';
import { createProject } from '../config/temp-project.ts';

/** In place of macOS's xattr: files with "downloaded" in their text have the mark. */
function standIn(folder: string): { readonly program: string; readonly runs: () => string[][] } {
  const program = join(folder, 'xattr');
  const log = join(folder, 'runs.jsonl');
  const lines = [
    `#!${process.execPath}`,
    "const { appendFileSync, readFileSync } = require('node:fs');",
    'const [option, ...files] = process.argv.slice(2);',
    `appendFileSync(${JSON.stringify(log)}, JSON.stringify([option, ...files]) + '\\n');`,
    'console.log(`${files[0]}: com.apple.provenance`);',
    'for (const file of files) {',
    "  if (readFileSync(file, 'utf8').includes('downloaded')) console.log(`${file}: com.apple.quarantine`);",
    '}',
  ];
  writeFileSync(program, lines.join('\n'), { mode: 0o755 });
  const runs = () =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as string[])
      : [];
  return { program, runs };
}

describe('on macOS', () => {
  const setUp = () => {
    const folder = temporaryFolder();
    const write = (name: string, text: string): string => {
      const file = join(folder, name);
      writeFileSync(file, text);
      return file;
    };
    const { program, runs } = standIn(folder);
    const open = (unmarked?: ReadonlyMap<string, string>) =>
      new DownloadMarks({ platform: 'darwin', xattr: program, unmarked });
    const has = (marks: DownloadMarks, file: string) => marks.has(file, statSync(file));
    return { write, runs, open, has };
  };

  test('the program is run once for all files that are expected', () => {
    const { write, runs, open, has } = setUp();
    const files = [write('a b.json', 'mine'), write('c.json', 'downloaded'), write('ä.json', '')];
    const marks = open();
    marks.expect([...files, '/gone.json']);
    expect(files.map((file) => has(marks, file))).toEqual([false, true, false]);
    expect(runs()[0]).toEqual(['-v', ...files]);
    // Only a marked file is looked at again.
    expect(runs()).toHaveLength(2);
  });

  test('a file is looked at again only after it has changed', () => {
    const { write, runs, open, has } = setUp();
    const file = write('a.json', 'mine');
    const first = open();
    expect(has(first, file)).toBe(false);
    expect(has(open(first.news), file)).toBe(false);
    expect(runs()).toHaveLength(1);
    appendFileSync(file, 'downloaded');
    expect(has(open(first.news), file)).toBe(true);
  });

  test.each([
    ['is missing', '/no/such/program'],
    ['fails', '/bin/false'],
  ])('every file counts as marked if the program %s', (_what, xattr) => {
    const { write, has } = setUp();
    const marks = new DownloadMarks({ platform: 'darwin', xattr });
    expect(has(marks, write('a.json', 'mine'))).toBe(true);
    expect(marks.news.size).toBe(0);
  });

  test('every file counts as marked if the output is ambiguous', () => {
    const { write, has } = setUp();
    const program = write('other', `#!${process.execPath}\nconsole.log('com.apple.quarantine')\n`);
    const { chmodSync } = process.getBuiltinModule('node:fs');
    chmodSync(program, 0o755);
    const marks = new DownloadMarks({ platform: 'darwin', xattr: program });
    expect(has(marks, write('a.json', 'mine'))).toBe(true);
  });

  test('a marked file in a project is foreign', () => {
    const { program, runs } = standIn(temporaryFolder());
    const project = createProject({ 'own.json': '"mine"', 'got.json': '"downloaded"' });
    const { folder, homeFolder } = project;
    const places = { project: folder, home: join(homeFolder, 's'), homeFolder };
    const marks = { platform: 'darwin' as const, xattr: program };
    const open = () =>
      new FileJudge({ mode: 'repository', directories: [] }, places, { announces: true, marks });
    const judge = open();
    const originOf = (by: FileJudge, name: string) =>
      by.originOf(join(folder, name), { stats: statSync(join(folder, name)) });
    expect(['own.json', 'got.json'].map((name) => originOf(judge, name))).toEqual([
      'yours',
      'foreign',
    ]);
    judge.save();
    const before = runs().length;
    expect(originOf(open(), 'own.json')).toBe('yours');
    expect(runs()).toHaveLength(before);
  });
});

test('on Windows a mark is a stream of the file', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'a.json');
  writeFileSync(file, '{}');
  const marks = new DownloadMarks({ platform: 'win32' });
  expect(marks.has(file, statSync(file))).toBe(false);
  writeFileSync(`${file}:Zone.Identifier`, '[ZoneTransfer]');
  expect(marks.has(file, statSync(file))).toBe(true);
});

test('on Linux there are no marks, and no program is run', () => {
  const { program, runs } = standIn(temporaryFolder());
  const marks = new DownloadMarks({ platform: 'linux', xattr: program });
  marks.expect([program]);
  expect(marks.has(program, statSync(program))).toBe(false);
  expect(runs()).toEqual([]);
});
