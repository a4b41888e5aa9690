// Files that change in all the ways editors and other programs change them. Each change is reported, and once.
import {
  type FSWatcher,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { WatchedTree } from '../../../src/base/watch/survey.ts';
import { TreeWatch, type TreeWatchOptions } from '../../../src/base/watch/tree-watch.ts';
import { Turns } from '../../../src/base/watch/turns.ts';

/** A folder, and what was reported about it. */
function createFolder() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'switchboard-watch-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const write = (path: string, text: string): void => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  return { folder, write };
}

/** `names` are the files directly in a folder, whether they exist or not. */
function named(base: string, folder: string, ...names: string[]): WatchedTree {
  return {
    base,
    folder: join(base, folder),
    depth: 0,
    isFile: (name) => names.includes(name),
    names,
    key: `${folder} ${names.join()}`,
  };
}

/** Every `file` in a folder of this folder. */
function below(base: string, folder: string, file: string): WatchedTree {
  const isFile = (name: string, level: number) => level === 1 && name === file;
  return { base, folder: join(base, folder), depth: 1, isFile, key: `${folder} * ${file}` };
}

function begin(trees: readonly WatchedTree[], more: Partial<TreeWatchOptions> = {}) {
  const reports: (readonly string[])[] = [];
  const problems: string[] = [];
  const bugs: unknown[] = [];
  const watcher = new TreeWatch({
    trees: () => trees,
    since: Date.now() + 60_000,
    turns: new Turns(),
    quietMs: 40,
    onChange: async (paths) => void reports.push(paths),
    onProblem: (problem) => void problems.push(problem),
    onBug: (error) => void bugs.push(error),
    ...more,
  });
  onTestFinished(() => {
    watcher[Symbol.dispose]();
    expect(bugs).toEqual([]);
  });
  return { watcher, reports, problems };
}

/** Resolves once it has looked for the first time. */
const begun = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a file that is written, replaced by renaming, deleted and created is reported each time', async () => {
  const { folder, write } = createFolder();
  write('a.json', '1');
  const { reports } = begin([named(folder, '.', 'a.json')]);
  const file = join(folder, 'a.json');
  await begun();
  write('a.json', '22');
  await expect.poll(() => reports).toEqual([[file]]);
  write('a.json.new', '333');
  renameSync(join(folder, 'a.json.new'), file);
  await expect.poll(() => reports).toEqual([[file], [file]]);
  unlinkSync(file);
  await expect.poll(() => reports.length).toBe(3);
  write('a.json', '4444');
  await expect.poll(() => reports.length).toBe(4);
});

test('a burst of writes is reported once, and other files in the folder never', async () => {
  const { folder, write } = createFolder();
  write('a.json', '');
  const { reports } = begin([named(folder, '.', 'a.json', 'last.json')]);
  await begun();
  for (let i = 0; i < 100; i++) {
    write('a.json', 'x'.repeat(i));
    write(`other-${i}.json`, '');
  }
  await expect.poll(() => reports).toEqual([[join(folder, 'a.json')]]);
  write('last.json', '');
  await expect.poll(() => reports).toEqual([[join(folder, 'a.json')], [join(folder, 'last.json')]]);
});

test('folders that appear later count, however deep, and so do those that are replaced', async () => {
  const { folder, write } = createFolder();
  const { reports } = begin([below(folder, 'deep/mcps', '.mcp.json')]);
  const file = (name: string) => join(folder, 'deep/mcps', name, '.mcp.json');
  await begun();
  write('deep/mcps/x/.mcp.json', '{}');
  await expect.poll(() => reports).toEqual([[file('x')]]);
  write('deep/mcps/y/.mcp.json', '{}');
  await expect.poll(() => reports.at(-1)).toEqual([file('y')]);
  rmSync(join(folder, 'deep'), { recursive: true });
  await expect.poll(() => reports.at(-1)).toEqual([file('x'), file('y')]);
  write('deep/mcps/z/.mcp.json', '{}');
  await expect.poll(() => reports.at(-1)).toEqual([file('z')]);
  // A folder with another one's content, moved to its place.
  write('elsewhere/mcps/w/.mcp.json', '{}');
  renameSync(join(folder, 'deep'), join(folder, 'gone'));
  renameSync(join(folder, 'elsewhere'), join(folder, 'deep'));
  await expect.poll(() => reports.at(-1)).toEqual([file('w'), file('z')]);
  write('deep/mcps/w/.mcp.json', '{ }');
  await expect.poll(() => reports.at(-1)).toEqual([file('w')]);
});

test('even the folder that everything is in may be removed and come back', async () => {
  const { folder, write } = createFolder();
  write('project/a.json', '1');
  const { reports } = begin([named(join(folder, 'project'), '.', 'a.json')]);
  await begun();
  rmSync(join(folder, 'project'), { recursive: true });
  await expect.poll(() => reports.length).toBe(1);
  write('project/a.json', '2');
  await expect.poll(() => reports.length).toBe(2);
});

test('links are followed: their targets count, and so do the links themselves', async () => {
  const { folder, write } = createFolder();
  write('versions/1/a.json', '1');
  write('versions/2/a.json', '22');
  mkdirSync(join(folder, 'project'));
  symlinkSync(join(folder, 'versions/1'), join(folder, 'current'));
  symlinkSync('../current/a.json', join(folder, 'project/a.json'));
  const file = join(folder, 'project/a.json');
  const { reports } = begin([named(join(folder, 'project'), '.', 'a.json')]);
  await begun();
  write('versions/1/a.json', '333');
  await expect.poll(() => reports).toEqual([[file]]);
  symlinkSync(join(folder, 'versions/2'), join(folder, 'next'));
  renameSync(join(folder, 'next'), join(folder, 'current'));
  await expect.poll(() => reports.length).toBe(2);
  write('versions/2/a.json', '4444');
  await expect.poll(() => reports.length).toBe(3);
  symlinkSync('a.json', join(folder, 'loop'));
  renameSync(join(folder, 'loop'), file); // it points to itself
  await expect.poll(() => reports.length).toBe(4);
});

test('what changed between reading and watching is reported at once', async () => {
  const { folder, write } = createFolder();
  write('old.json', '');
  const trees = [named(folder, '.', 'old.json', 'new.json')];
  const { reports } = begin(trees, { since: 0, expected: [join(folder, 'gone.json')] });
  await expect.poll(() => reports).toEqual([[join(folder, 'old.json'), join(folder, 'gone.json')]]);
});

test('what others are about to read is not reported, and neither are files in new places', async () => {
  const { folder, write } = createFolder();
  write('a.json', '1');
  write('b.json', '1');
  const trees = [named(folder, '.', 'a.json')];
  const { reports, watcher } = begin(trees);
  await begun();
  const { ctimeMs } = statSync(join(folder, 'b.json'));
  await expect.poll(() => Date.now() - ctimeMs).toBeGreaterThan(100); // its time is only roughly known
  write('a.json', '22');
  watcher.note();
  trees.push(named(folder, '.', 'b.json'));
  watcher.lookSoon();
  write('sub/c.json', '1');
  trees.push(named(folder, 'sub', 'c.json'));
  write('a.json', '333');
  // The new file is younger than the note, so it may not have been read.
  await expect.poll(() => reports).toEqual([[join(folder, 'a.json'), join(folder, 'sub/c.json')]]);
});

test('if the system cannot watch more, it looks from time to time, and says so once', async () => {
  const { folder, write } = createFolder();
  write('a.json', '1');
  const refuse = (): FSWatcher => {
    throw Object.assign(new Error('System limit reached'), { code: 'ENOSPC' });
  };
  let isFull = true;
  const { reports, problems } = begin([named(folder, '.', 'a.json')], {
    pollMs: 30,
    watchFolder: (path, listener) =>
      isFull ? refuse() : watch(path, { persistent: false }, listener),
  });
  await begun();
  write('a.json', '22');
  await expect.poll(() => reports.length).toBe(1);
  write('a.json', '333');
  await expect.poll(() => reports.length).toBe(2);
  expect(problems).toEqual([
    "can't watch all configuration files (ENOSPC), so it checks them every 0.03 seconds.",
  ]);
  isFull = false;
  write('a.json', '4444');
  await expect.poll(() => reports.length).toBe(3);
  write('a.json', '55555');
  await expect.poll(() => reports.length).toBe(4);
});

test('more folders than it watches are checked from time to time', async () => {
  const { folder, write } = createFolder();
  for (let i = 0; i < 9; i++) write(`mcps/${i}/.mcp.json`, '{}');
  const { problems } = begin([below(folder, 'mcps', '.mcp.json')], { mostFolders: 5 });
  await expect.poll(() => problems.length).toBe(1);
  expect(problems[0]).toContain('too many folders');
});

test('a watch that fails is replaced', async () => {
  const { folder, write } = createFolder();
  write('a.json', '1');
  const watchers: FSWatcher[] = [];
  const { reports } = begin([named(folder, '.', 'a.json')], {
    watchFolder: (path, listener) => {
      const watcher = watch(path, { persistent: false }, listener);
      watchers.push(watcher);
      return watcher;
    },
  });
  await begun();
  const [first] = watchers;
  first?.emit('error', Object.assign(new Error('gone'), { code: 'EPERM' }));
  await expect.poll(() => watchers.length).toBe(2);
  write('a.json', '22');
  await expect.poll(() => reports.length).toBe(1);
});

test('sessions take turns, and one that fails or hangs does not stop the others', async () => {
  const turns = new Turns();
  const order: string[] = [];
  let atOnce = 0;
  const work = (name: string) => async (): Promise<void> => {
    expect(++atOnce).toBe(1);
    await begun();
    order.push(name);
    atOnce--;
  };
  const failed = turns.take(async () => {
    throw new Error('broken');
  });
  await expect(failed).rejects.toThrow('broken');
  await Promise.all(['a', 'b', 'c'].map((name) => turns.take(work(name))));
  expect(order).toEqual(['a', 'b', 'c']);
  void turns.take(() => new Promise(() => {}));
  await turns.take(work('after'));
  expect(order.at(-1)).toBe('after');
});
