import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Catalog } from '../../../src/pool/catalog.ts';
import { childConfig } from '../../support/child-config.ts';
import { temporaryFolder } from '../../support/fake-child.ts';
import { FIXTURES, ROOT } from '../../support/project.ts';

const kid = childConfig({ name: 'kid' });
const NOTHING = { tools: undefined, listedAt: undefined, framing: undefined };

function openCatalog(folder = join(temporaryFolder(), 'deep/catalog')) {
  const problems: string[] = [];
  return { folder, problems, catalog: new Catalog(folder, (problem) => problems.push(problem)) };
}

test('nothing is known of what was never remembered, and nothing is written for asking', () => {
  const { catalog, folder } = openCatalog();
  expect(catalog.get(kid)).toEqual(NOTHING);
  expect(existsSync(folder)).toBe(false);
});

test('what is remembered is known at once, and in the next run', async () => {
  const { catalog, folder } = openCatalog();
  const tools = [{ name: 'a', inputSchema: { properties: { ['__proto__']: {} } } }, { name: 'é"' }];
  catalog.rememberTools(kid, tools);
  catalog.rememberFraming(kid, 'content-length');
  expect(catalog.get(kid)).toMatchObject({ tools, framing: 'content-length' });
  await catalog.written();
  const { catalog: next } = openCatalog(folder);
  expect(next.get({ ...kid })).toEqual(catalog.get(kid));
  expect(Date.parse(next.get(kid).listedAt ?? '')).toBeGreaterThan(0);
});

test('it is for its owner alone', async () => {
  const { catalog, folder } = openCatalog();
  catalog.rememberTools(kid, []);
  await catalog.written();
  const [file = ''] = readdirSync(folder);
  expect(statSync(folder).mode & 0o077).toBe(0);
  expect(statSync(join(folder, file)).mode & 0o077).toBe(0);
});

test('what was known of a declaration that now means another server is not found, and goes', async () => {
  const { catalog, folder } = openCatalog();
  catalog.rememberTools(kid, [{ name: 'old' }]);
  const changed = childConfig({ name: 'kid', command: { cmd: 'other', args: [], env: {} } });
  expect(catalog.get(changed)).toEqual(NOTHING);
  catalog.rememberTools(changed, [{ name: 'new' }]);
  await catalog.written();
  expect(readdirSync(folder)).toHaveLength(1);
  expect(openCatalog(folder).catalog.get(kid)).toEqual(NOTHING);
});

test('servers of the same name in different projects and files keep apart', async () => {
  const { catalog, folder } = openCatalog();
  const others = [
    kid,
    childConfig({ name: 'kid', cwd: '/other' }),
    childConfig({ name: 'kid', origin: '/home/servers.json' }),
  ];
  for (const [index, config] of others.entries()) {
    catalog.rememberTools(config, [{ name: `tool${index}` }]);
  }
  await catalog.written();
  expect(readdirSync(folder)).toHaveLength(3);
  for (const [index, config] of others.entries()) {
    expect(openCatalog(folder).catalog.get(config).tools).toEqual([{ name: `tool${index}` }]);
  }
});

test.each([
  '../../up',
  '/etc/passwd',
  'a\u0000b',
  '__proto__',
  'CON',
  '.',
  'x'.repeat(300),
  '検索 "q"\n',
])('the name %j stays within the folder', async (name) => {
  const { catalog, folder, problems } = openCatalog();
  const config = childConfig({ name });
  catalog.rememberTools(config, [{ name: 'a' }]);
  await catalog.written();
  expect(problems).toEqual([]);
  const [file = '', ...more] = readdirSync(folder);
  expect(more).toEqual([]);
  expect(file).toMatch(/^[A-Za-z0-9_-]{1,100}\.json$/);
  expect(openCatalog(folder).catalog.get(config).tools).toEqual([{ name: 'a' }]);
});

test.each([
  '',
  '{',
  'null',
  '[]',
  '"text"',
  '{"form":2,"tools":[{"name":"a"}]}',
  '{"tools":[{"name":"a"}]}',
])('a file with %j in it is as good as none', async (text) => {
  const { catalog, folder } = openCatalog();
  catalog.rememberTools(kid, [{ name: 'a' }]);
  await catalog.written();
  const [file = ''] = readdirSync(folder);
  writeFileSync(join(folder, file), text);
  expect(openCatalog(folder).catalog.get(kid)).toEqual(NOTHING);
});

test('what is not of the right kind in a file is left out of it', async () => {
  const { catalog, folder } = openCatalog();
  catalog.rememberTools(kid, []);
  await catalog.written();
  const [file = ''] = readdirSync(folder);
  const content = { form: 1, tools: [null, { name: 7 }, { name: 'a' }], listedAt: 3, framing: 'x' };
  writeFileSync(join(folder, file), JSON.stringify(content));
  expect(openCatalog(folder).catalog.get(kid)).toEqual({ ...NOTHING, tools: [{ name: 'a' }] });
});

test('a folder that is a file is said once, and everything is still known', async () => {
  const folder = join(temporaryFolder(), 'catalog');
  writeFileSync(folder, '');
  const { catalog, problems } = openCatalog(folder);
  catalog.rememberTools(kid, [{ name: 'a' }]);
  catalog.rememberTools(kid, [{ name: 'b' }]);
  await catalog.written();
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain('the catalog cannot be kept on disk');
  expect(catalog.get(kid).tools).toEqual([{ name: 'b' }]);
});

test.skipIf(process.getuid?.() === 0)('a folder that may only be read is said once', async () => {
  const { catalog, folder, problems } = openCatalog(temporaryFolder());
  chmodSync(folder, 0o500);
  catalog.rememberTools(kid, [{ name: 'a' }]);
  await catalog.written();
  chmodSync(folder, 0o700);
  expect(problems).toHaveLength(1);
  expect(catalog.get(kid).tools).toEqual([{ name: 'a' }]);
});

test('where a file cannot be put in its place, nothing half done is left', async () => {
  const first = openCatalog();
  first.catalog.rememberTools(kid, []);
  await first.catalog.written();
  const [file = ''] = readdirSync(first.folder);
  const { catalog, folder, problems } = openCatalog();
  mkdirSync(join(folder, file, 'in the way'), { recursive: true });
  catalog.rememberTools(kid, [{ name: 'a' }]);
  await catalog.written();
  expect(problems).toHaveLength(1);
  expect(readdirSync(folder)).toEqual([file]);
});

test('programs that write at once never leave a file that is not whole', async () => {
  const folder = temporaryFolder();
  const program = join(FIXTURES, 'programs/writes-catalog.mjs');
  const tsx = join(ROOT, 'node_modules/tsx/dist/cli.mjs');
  const writers = Array.from({ length: 4 }, () =>
    spawn(process.execPath, [tsx, program, folder, 'kid', '60'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    }),
  );
  let words = '';
  for (const { stderr } of writers) stderr.on('data', (chunk) => (words += String(chunk)));
  const ended = Promise.all(writers.map((writer) => once(writer, 'exit')));
  const seen = new Set<string>();
  while (writers.some(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
      const { tools } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
        tools: { name: string }[];
      };
      const marks = new Set(tools.map(({ name }) => name));
      expect(marks.size).toBe(1);
      for (const mark of marks) seen.add(mark);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const exit of await ended) expect(exit).toEqual([0, null]);
  expect(words).toBe('');
  expect(seen.size).toBeGreaterThan(1);
  expect(readdirSync(folder)).toHaveLength(1);
}, 120_000);
