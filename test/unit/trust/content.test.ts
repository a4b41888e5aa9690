// What an approval is bound to, and what a person reads before giving it.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JudgedSubject, Subject } from '../../../src/config/judge.ts';
import type { LoadConfigOptions } from '../../../src/config/load.ts';
import { declareServer } from '../../../src/config/server/declare.ts';
import { contentOf, hashOf } from '../../../src/trust/approvals/content.ts';
import { describeSubject } from '../../../src/trust/approvals/describe.ts';
import { judgeOpener } from '../../../src/trust/approvals/open.ts';
import { createProject, type Project } from '../config/temp-project.ts';

const ASK: Partial<LoadConfigOptions> = { openJudge: judgeOpener({ lists: true }), trust: 'ask' };

async function judged(project: Project): Promise<readonly JudgedSubject[]> {
  const { gate } = await project.load(ASK);
  return gate?.judge?.judged ?? [];
}

async function hashIn(project: Project, config: object | string): Promise<string> {
  project.write('switchboard.config.json', config);
  const [only, ...others] = await judged(project);
  if (!only || others.length > 0) throw new Error('expected one subject');
  return only.hash;
}

const server = (entry: object, more: object = {}) => ({ mcpServers: { one: entry }, ...more });

test('approvals stay valid after an update, whatever settings it adds', () => {
  const command = { cmd: './run.sh', args: ['a'], env: { A: '1' } };
  const timeouts = { spawnMs: 1, rpcMs: 1, stopMs: 1 };
  const origin = '/p/switchboard.config.json';
  const parts = { name: 'one', origin, command, remote: undefined, cwd: '/p', timeouts };
  const subject: Subject = {
    kind: 'server',
    name: 'one',
    file: origin,
    origin: 'foreign',
    content: () => declareServer(parts),
  };
  expect(hashOf(subject, contentOf(subject, '/p'), '/p')).toBe(
    'sha256-1-2ac8df6b602023162928347855dfef914f6707cb4d7e06786320937d78b897e4',
  );
});

describe('the hash of a server', () => {
  const entry = { command: 'node', args: ['a.js'], env: { A: '1', B: '2' } };

  test('is the same however the entry is written', async () => {
    const project = createProject();
    const hash = await hashIn(project, server(entry));
    expect(hash).toMatch(/^sha256-1-[0-9a-f]{64}$/);
    const others = [
      server({ env: { B: '2', A: '1' }, args: ['a.js'], command: 'node' }),
      server({ command: { cmd: 'node', args: ['a.js'], env: { A: '1', B: 2 } } }),
      server(entry, { timeouts: { rpcMs: 1 }, limits: { depth: 5 } }),
      server({ ...entry, rpcTimeoutMs: 5, idleMs: 5, summaryMaxChars: 9 }),
      `// a comment\n${JSON.stringify(server(entry))}`,
    ];
    for (const other of others) expect(await hashIn(project, other)).toBe(hash);
  });

  test('differs if anything changes that decides what runs, where, and what models read', async () => {
    const project = createProject();
    const changes = [
      { command: 'deno' },
      { command: './node' },
      { args: ['a.js', ''] },
      { args: ['a.js b'] },
      { env: { A: '1', B: '3' } },
      { env: { A: '1' } },
      { env: { A: '1', B: '${B}' } },
      { cwd: '/tmp' },
      { show: 'direct' },
      { start: 'eager' },
      { expose: { allow: ['a'] } },
      { expose: { deny: [] } },
      { assistant: true },
      { assistant: { baseUrl: 'http://127.0.0.1' } },
      { description: 'other' },
      { keywords: ['other'] },
      { suiteName: 'other' },
      { environment: 'minimal' },
      { command: undefined, url: 'http://127.0.0.1/', args: undefined, env: undefined },
    ];
    const hashes = [await hashIn(project, server(entry))];
    for (const change of changes)
      hashes.push(await hashIn(project, server({ ...entry, ...change })));
    hashes.push(await hashIn(project, server(entry, { suites: { one: { show: 'flip' } } })));
    hashes.push(await hashIn(project, { mcpServers: { two: entry } }));
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test('differs for each way to make a known program run something else', async () => {
    const project = createProject();
    const variants = [
      ['npx', '-y', 'server'],
      ['npx', '-c', 'server'],
      ['npx', '--yes', '-p', 'other', 'server'],
      ['node', 'server.js'],
      ['node', '-e', 'server.js'],
      ['node', '--import', './x.mjs', 'server.js'],
      ['python', 'server.py'],
      ['python', '-c', 'server.py'],
      ['env', '-S', 'node server.js'],
      ['sh', '-c', 'node server.js'],
      ['git', 'clone', '--upload-pack', 'touch x'],
      ['docker', 'run', 'server'],
      ['docker', 'run', '-v', '/:/host', 'server'],
    ];
    const hashes: string[] = [];
    for (const [command, ...args] of variants)
      hashes.push(await hashIn(project, server({ command, args })));
    expect(new Set(hashes).size).toBe(variants.length);
  });

  test("doesn't depend on the user's own settings", async () => {
    const project = createProject();
    const hash = await hashIn(project, server(entry));
    project.write('../home/.switchboard/switchboard.config.json', {
      environment: 'minimal',
      suites: { one: { show: 'direct', expose: { deny: ['x'] } } },
    });
    expect(await hashIn(project, server(entry))).toBe(hash);
  });
});

describe('what is shown', () => {
  test('is the whole command line, and where variables go', async () => {
    const project = createProject({
      'switchboard.config.json': server({
        command: 'npx',
        args: ['-y', 'some package', '--key=${API_KEY}', 'hid\u202eden'],
        env: { TOKEN: '${TOKEN}', NODE_OPTIONS: '--require ./x.js' },
        show: 'direct',
      }),
    });
    const [one] = await judged(project);
    expect(one && describeSubject(one)).toEqual([
      'runs: npx -y "some package" --key=${API_KEY} "hid<U+202E>den"',
      'in: ${project}',
      'sets variable TOKEN=${TOKEN}',
      'sets variable NODE_OPTIONS="--require ./x.js"',
      "passes your variable API_KEY to the program's arguments",
      "passes your variable TOKEN to the program's environment",
      'show: "direct"',
    ]);
  });

  test('is the address with its headers', async () => {
    const project = createProject({
      'switchboard.config.json': server({
        url: 'https://example.com/${ID}',
        headers: { Authorization: 'Bearer ${TOKEN}' },
      }),
    });
    const [one] = await judged(project);
    expect(one && describeSubject(one)).toEqual([
      'connects to: https://example.com/${ID}',
      'sends header Authorization="Bearer ${TOKEN}"',
      'passes your variable ID to the address',
      'passes your variable TOKEN to a header',
    ]);
  });

  test("hides the values in the user's own files", async () => {
    const project = createProject({
      'switchboard.config.json': server({ command: 'a', env: { TOKEN: 'secret', B: '${B}' } }),
    });
    const { gate } = await project.load({ openJudge: judgeOpener({ lists: true }) });
    const [one] = gate?.judge?.judged ?? [];
    expect(one?.subject).toMatchObject({
      origin: 'yours',
      file: join(project.folder, 'switchboard.config.json'),
    });
    const said = one ? describeSubject(one).join('\n') : '';
    expect(said).toContain('sets variable TOKEN=***');
    expect(said).toContain('sets variable B=${B}');
    expect(said).not.toContain('secret');
  });
});
