// What is remembered about files, so that a session need only look at them.
import { chmodSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { age, createAgents, markdown } from './temp-agents.ts';

const CACHE = 'home/cache/agents.json';

interface Written {
  files: { file: string; summary?: { name: string } }[];
}

/** Two agents and a file that is none, old enough to be remembered. */
async function remembered() {
  const agents = createAgents({
    'project/.agents/a.toml': 'name = "A"\ntags = ["t"]\n',
    'project/.agents/b.toml': 'nome = "B"\n',
    'project/.claude/agents/c.agent.md': markdown('name: C'),
  });
  const files = ['a.toml', 'b.toml'].map((name) => agents.path(`project/.agents/${name}`));
  age(...files, agents.path('project/.claude/agents/c.agent.md'));
  const first = await agents.list();
  const read = () => JSON.parse(readFileSync(agents.path(CACHE), 'utf8')) as Written;
  /** Changes what is remembered, so that it shows where it is used. */
  const tamper = () => {
    const text = readFileSync(agents.path(CACHE), 'utf8');
    writeFileSync(agents.path(CACHE), text.replace('"name":"A"', '"name":"Remembered"'));
  };
  return { ...agents, first, read, tamper };
}

test('cached agents are found again without reading files', async () => {
  const { list, first, tamper } = await remembered();
  expect(first.agents.map(({ name }) => name)).toEqual(['A', 'C']);
  expect(first.problems).toHaveLength(1);
  expect(await list()).toEqual(first);
  tamper();
  const { agents, problems } = await list();
  expect(agents.map(({ name }) => name)).toEqual(['Remembered', 'C']);
  expect(problems).toEqual(first.problems);
});

test('only the user can read it', async () => {
  const { path } = await remembered();
  expect(statSync(path(CACHE)).mode & 0o777).toBe(0o600);
});

test('a changed file is read again, even if its size and time are the same', async () => {
  const { list, path, write, tamper } = await remembered();
  const file = path('project/.agents/a.toml');
  const { atime, mtime } = statSync(file);
  tamper();
  write('project/.agents/a.toml', 'name = "Z"\ntags = ["t"]\n');
  utimesSync(file, atime, mtime);
  expect((await list()).agents.map(({ name }) => name)).toEqual(['Z', 'C']);
});

test('a file written a moment ago is not trusted', async () => {
  const { list, path, write, read } = await remembered();
  write('project/.agents/d.toml', 'name = "D"\n');
  await list();
  const names = () => read().files.map(({ file }) => file);
  expect(names()).not.toContain(path('project/.agents/d.toml'));
  age(path('project/.agents/d.toml'));
  await list();
  expect(names()).toContain(path('project/.agents/d.toml'));
});

test('a file in another dialect is read again', async () => {
  const { list, path, settings } = await remembered();
  const { formats } = settings();
  const { agents } = await list({
    formats: {
      ...formats,
      vscode: { ...formats.vscode, folders: [path('project/.claude/agents')] },
    },
  });
  expect(agents.map(({ name }) => name)).toEqual(['A', 'C']);
});

test.each([
  ['nothing', ''],
  ['half of it', '{"form":1,"version":"0.0.0-source","files":[{"fi'],
  ['something else', '[1, 2]'],
  ['another form', '{"form":99,"files":[]}'],
  ['another version', '{"form":1,"version":"9.9.9","files":[{"file":"FILE"}]}'],
  [
    'entries that are none',
    '{"form":1,"version":"0.0.0-source","files":[null,{"file":"FILE"},{"file":"FILE","dialect":"switchboard-toml","stamp":"x","summary":3,"problems":[]}]}',
  ],
])('%s in its place is ignored', async (_, content) => {
  const { list, path, first } = await remembered();
  writeFileSync(path(CACHE), content.replaceAll('FILE', path('project/.agents/a.toml')));
  expect(await list()).toEqual(first);
});

test('everything works if nothing can be written', async () => {
  const { list, write, path } = createAgents({ 'project/.agents/a.toml': 'name = "A"\n' });
  age(path('project/.agents/a.toml'));
  write('home/cache', 'a file where the folder would be');
  expect((await list()).agents).toHaveLength(1);
});

test('nothing is written if nothing is new', async () => {
  const { list, path } = await remembered();
  const { ino } = statSync(path(CACHE));
  await list();
  expect(statSync(path(CACHE)).ino).toBe(ino);
});

test('agents of other projects are still cached, within limits', async () => {
  const { path, read, write, list } = await remembered();
  const entries = read().files;
  const [pattern] = entries;
  const others = Array.from({ length: 3_000 }, (_, index) => ({
    ...pattern,
    file: `/other/${index}.toml`,
  }));
  const content = JSON.parse(readFileSync(path(CACHE), 'utf8')) as object;
  mkdirSync(dirname(path(CACHE)), { recursive: true });
  writeFileSync(path(CACHE), JSON.stringify({ ...content, files: [...entries, ...others] }));
  chmodSync(path(CACHE), 0o600);
  age(write('project/.agents/new.toml', 'name = "New"\n'));
  await list();
  const files = read().files.map(({ file }) => file);
  expect(files).toHaveLength(4 + 1_000);
  expect(files).toContain('/other/0.toml');
});
