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
import { expect, onTestFinished, test, vi } from 'vitest';
import { Catalog } from '../../../src/pool/catalog.ts';
import { childConfig } from '../../support/child-config.ts';
import { temporaryFolder } from '../../support/fake-child.ts';
import { FIXTURES, ROOT } from '../../support/project.ts';

const kid = childConfig({ name: 'kid' });
const NOTHING = {
  lists: {},
  refused: [],
  rights: {},
  changes: undefined,
  listedAt: undefined,
  framing: undefined,
  era: undefined,
};

function openCatalog(folder = join(temporaryFolder(), 'deep/catalog')) {
  const problems: string[] = [];
  return { folder, problems, catalog: new Catalog(folder, (problem) => problems.push(problem)) };
}

test('an unknown server has no lists, and asking writes nothing', () => {
  const { catalog, folder } = openCatalog();
  expect(catalog.get(kid)).toEqual(NOTHING);
  expect(existsSync(folder)).toBe(false);
});

test('lists are available at once, and in the next run', async () => {
  const { catalog, folder } = openCatalog();
  const tools = [{ name: 'a', inputSchema: { properties: { ['__proto__']: {} } } }, { name: 'é"' }];
  catalog.rememberList(kid, 'tools', tools);
  catalog.rememberFraming(kid, 'content-length');
  expect(catalog.get(kid)).toMatchObject({ lists: { tools }, framing: 'content-length' });
  await catalog.written();
  const { catalog: next } = openCatalog(folder);
  expect(next.get({ ...kid })).toEqual(catalog.get(kid));
  expect(Date.parse(next.get(kid).listedAt ?? '')).toBeGreaterThan(0);
});

test('a list with a secret is available but never written, whatever is written after it', async () => {
  const { catalog, folder } = openCatalog();
  const tools = [{ name: 'a', description: 'key s3cr3t' }];
  catalog.rememberList(kid, 'tools', tools, { isSecret: true });
  expect(catalog.get(kid).lists.tools).toEqual(tools);
  catalog.rememberList(kid, 'prompts', [{ name: 'p' }]);
  catalog.rememberFraming(kid, 'content-length');
  catalog.rememberEra(kid, 'handshake');
  await catalog.written();
  for (const file of readdirSync(folder)) {
    expect(readFileSync(join(folder, file), 'utf8')).not.toContain('s3cr3t');
  }
  expect(catalog.get(kid).lists).toEqual({ tools, prompts: [{ name: 'p' }] });
  const { catalog: next } = openCatalog(folder);
  expect(next.get(kid)).toMatchObject({ lists: { prompts: [{ name: 'p' }] } });
});

test('each list is stored separately', async () => {
  const { catalog, folder } = openCatalog();
  catalog.rememberList(kid, 'prompts', [{ name: 'p' }]);
  expect(catalog.get(kid).listedAt).toBeUndefined();
  catalog.rememberList(kid, 'resources', [{ uri: 'a:1' }]);
  catalog.rememberList(kid, 'templates', []);
  catalog.rememberList(kid, 'tools', [{ name: 'a' }]);
  await catalog.written();
  expect(openCatalog(folder).catalog.get(kid).lists).toEqual({
    prompts: [{ name: 'p' }],
    resources: [{ uri: 'a:1' }],
    templates: [],
    tools: [{ name: 'a' }],
  });
});

test('a server’s era is trusted for a week, then probed again', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { catalog, folder } = openCatalog();
  expect(catalog.eraOf(kid)).toBeUndefined();
  catalog.rememberEra(kid, 'modern');
  await catalog.written();
  const { catalog: next } = openCatalog(folder);
  const week = 7 * 24 * 60 * 60 * 1_000;
  vi.setSystemTime(Date.now() + week - 1_000);
  expect(next.eraOf(kid)).toBe('modern');
  vi.setSystemTime(Date.now() + 2_000);
  expect(next.eraOf(kid)).toBeUndefined();
  next.rememberEra(kid, 'modern');
  expect(next.eraOf(kid)).toBe('modern');
});

test('refused tools are stored with the list, unless it is secret', async () => {
  const { catalog, folder } = openCatalog();
  const refused = [{ name: 'a\u200bb', where: 'name' }] as const;
  catalog.rememberList(kid, 'tools', [], { refused });
  catalog.rememberList(kid, 'prompts', []);
  expect(catalog.get(kid).refused).toEqual(refused);
  await catalog.written();
  expect(openCatalog(folder).catalog.get(kid).refused).toEqual(refused);
  catalog.rememberList(kid, 'tools', [], { refused, isSecret: true });
  await catalog.written();
  expect(openCatalog(folder).catalog.get(kid).refused).toEqual([]);
});

test('only its owner can read it', async () => {
  const { catalog, folder } = openCatalog();
  catalog.rememberList(kid, 'tools', []);
  await catalog.written();
  const [file = ''] = readdirSync(folder);
  expect(statSync(folder).mode & 0o077).toBe(0);
  expect(statSync(join(folder, file)).mode & 0o077).toBe(0);
});

test("a user's server shares its lists between projects", async () => {
  const { catalog, folder } = openCatalog();
  const command = { cmd: 'npx', args: ['-y', 'server'], env: {} };
  const [one, other] = ['/one', '/other'].map((cwd) =>
    childConfig({ name: 'kid', origin: '/home/servers.json', command, cwd, isCwdGiven: false }),
  );
  if (!one || !other) throw new Error('There are two.');
  catalog.rememberList(one, 'tools', [{ name: 'a' }]);
  catalog.rememberList(one, 'prompts', [{ name: 'p' }]);
  await catalog.written();
  const { catalog: next } = openCatalog(folder);
  expect(next.get(other).lists).toEqual({ tools: [{ name: 'a' }], prompts: [{ name: 'p' }] });
  next.rememberList(other, 'tools', [{ name: 'b' }]);
  await next.written();
  expect(readdirSync(folder)).toHaveLength(1);
  expect(openCatalog(folder).catalog.get(one).lists.tools).toEqual([{ name: 'b' }]);
});

test('mayKnow depends only on the name', async () => {
  const { catalog, folder } = openCatalog();
  const odd = childConfig({ name: 'an odd-name/1' });
  expect(catalog.mayKnow(kid)).toBe(false);
  catalog.rememberList(kid, 'tools', []);
  catalog.rememberList(odd, 'tools', []);
  expect(catalog.mayKnow(kid)).toBe(true);
  await catalog.written();
  const { catalog: next } = openCatalog(folder);
  expect([next.mayKnow(kid), next.mayKnow(odd)]).toEqual([true, true]);
  expect(next.mayKnow(childConfig({ name: 'other' }))).toBe(false);
});

test('lists of a declaration that now means another server are ignored and removed', async () => {
  const { catalog, folder } = openCatalog();
  catalog.rememberList(kid, 'tools', [{ name: 'old' }]);
  const changed = childConfig({ name: 'kid', command: { cmd: 'other', args: [], env: {} } });
  expect(catalog.get(changed)).toEqual(NOTHING);
  catalog.rememberList(changed, 'tools', [{ name: 'new' }]);
  await catalog.written();
  expect(readdirSync(folder)).toHaveLength(1);
  expect(openCatalog(folder).catalog.get(kid)).toEqual(NOTHING);
});

test('servers with the same name in different projects and files stay apart', async () => {
  const { catalog, folder } = openCatalog();
  const others = [
    kid,
    childConfig({ name: 'kid', cwd: '/other' }),
    childConfig({ name: 'kid', origin: '/home/servers.json' }),
  ];
  for (const [index, config] of others.entries()) {
    catalog.rememberList(config, 'tools', [{ name: `tool${index}` }]);
  }
  await catalog.written();
  expect(readdirSync(folder)).toHaveLength(3);
  for (const [index, config] of others.entries()) {
    expect(openCatalog(folder).catalog.get(config).lists.tools).toEqual([{ name: `tool${index}` }]);
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
  catalog.rememberList(config, 'tools', [{ name: 'a' }]);
  await catalog.written();
  expect(problems).toEqual([]);
  const [file = '', ...more] = readdirSync(folder);
  expect(more).toEqual([]);
  expect(file).toMatch(/^[A-Za-z0-9_-]{1,100}\.json$/);
  expect(openCatalog(folder).catalog.get(config).lists.tools).toEqual([{ name: 'a' }]);
});

test.each([
  '',
  '{',
  'null',
  '[]',
  '"text"',
  '{"form":2,"lists":{"tools":[{"name":"a"}]}}',
  '{"form":4,"lists":{"tools":[{"name":"a"}]}}',
  '{"lists":{"tools":[{"name":"a"}]}}',
])('a file with %j in it is ignored', async (text) => {
  const { catalog, folder } = openCatalog();
  catalog.rememberList(kid, 'tools', [{ name: 'a' }]);
  await catalog.written();
  const [file = ''] = readdirSync(folder);
  writeFileSync(join(folder, file), text);
  expect(openCatalog(folder).catalog.get(kid)).toEqual(NOTHING);
});

test('invalid parts of a file are dropped', async () => {
  const { catalog, folder } = openCatalog();
  catalog.rememberList(kid, 'tools', []);
  await catalog.written();
  const [file = ''] = readdirSync(folder);
  const prompts = [{ name: 'p' }];
  const content = {
    form: 3,
    lists: { tools: { name: 'a' }, prompts, resources: null, others: [1] },
    refused: [{ name: 'a', where: 'there' }, { name: 7 }, null],
    listedAt: 3,
    framing: 'x',
    era: { speaks: 'klingon', until: Date.now() + 60_000 },
  };
  writeFileSync(join(folder, file), JSON.stringify(content));
  expect(openCatalog(folder).catalog.get(kid)).toEqual({ ...NOTHING, lists: { prompts } });
});

test('a folder that is a file is reported once, and everything stays in memory', async () => {
  const folder = join(temporaryFolder(), 'catalog');
  writeFileSync(folder, '');
  const { catalog, problems } = openCatalog(folder);
  catalog.rememberList(kid, 'tools', [{ name: 'a' }]);
  catalog.rememberList(kid, 'tools', [{ name: 'b' }]);
  await catalog.written();
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain('cannot write the catalog to disk');
  expect(catalog.get(kid).lists.tools).toEqual([{ name: 'b' }]);
});

test.skipIf(process.getuid?.() === 0)('a read-only folder is reported once', async () => {
  const { catalog, folder, problems } = openCatalog(temporaryFolder());
  chmodSync(folder, 0o500);
  catalog.rememberList(kid, 'tools', [{ name: 'a' }]);
  await catalog.written();
  chmodSync(folder, 0o700);
  expect(problems).toHaveLength(1);
  expect(catalog.get(kid).lists.tools).toEqual([{ name: 'a' }]);
});

test('if a file cannot be renamed, nothing unfinished is left', async () => {
  const first = openCatalog();
  first.catalog.rememberList(kid, 'tools', []);
  await first.catalog.written();
  const [file = ''] = readdirSync(first.folder);
  const { catalog, folder, problems } = openCatalog();
  mkdirSync(join(folder, file, 'in the way'), { recursive: true });
  catalog.rememberList(kid, 'tools', [{ name: 'a' }]);
  await catalog.written();
  expect(problems).toHaveLength(1);
  expect(readdirSync(folder)).toEqual([file]);
});

test('concurrent writers never leave an incomplete file', async () => {
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
      const { lists } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
        lists: { tools: { name: string }[] };
      };
      const marks = new Set(lists.tools.map(({ name }) => name));
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
