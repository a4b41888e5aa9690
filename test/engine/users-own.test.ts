// What belongs to the engine's user and to the project he works in: a run uses no server that its agent was
// not given, trusts no folder on its own, and leaves nothing behind in the user's home.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunFields } from '../../src/agents/agent.ts';
import { attachedServer, plainAgent, watchedRun } from '../support/agents.ts';
import { eventually } from '../support/processes.ts';
import { FIXTURES } from '../support/project.ts';
import { type RealEngineOptions, realEngine } from '../support/real-engine.ts';

const DONE = { kind: 'says', text: 'done' } as const;
const TOOLBOX = join(FIXTURES, 'servers', 'toolbox.mjs');

/** A server, as config.toml names it, that tells by a file that it was started. */
const touching = (key: string, file: string): string =>
  [
    `[mcp_servers.${key}]`,
    'command = "/bin/sh"',
    `args = ["-c", "touch ${file}; exec ${process.execPath} ${TOOLBOX}"]`,
  ].join('\n');

/** A project whose folder names a server and settings of its own. */
async function projectWithServer(options: Partial<RealEngineOptions> = {}) {
  const parts = await realEngine({ script: [DONE], ...options });
  const started = join(parts.project.dir, 'was-started');
  const settings = `model_verbosity = "high"\n${touching('planted', started)}\n`;
  parts.project.write('work/.codex/config.toml', settings);
  execFileSync('git', ['init', '-q'], { cwd: parts.cwd });
  const config = join(parts.codexHome, 'config.toml');
  return { ...parts, started, config, before: readFileSync(config, 'utf8') };
}

describe.each<[string, RunFields]>([
  ['an agent that says nothing', {}],
  ['an agent that only reads', { sandbox: 'read-only' }],
  ['an agent that writes', { sandbox: 'workspace-write' }],
  ['an agent that may do all', { sandbox: 'danger-full-access' }],
])('%s', (_what, run) => {
  test('starts no server that the folder names, and has nobody trust it', async () => {
    const { engine, model, cwd, started, config, before } = await projectWithServer();
    expect(await engine.run(watchedRun(cwd, { agent: plainAgent({ run }) }))).toMatchObject({
      ok: true,
    });
    expect(existsSync(started)).toBe(false);
    expect(model.requests[0]?.body.text).toEqual({ verbosity: 'low' });
    expect(readFileSync(config, 'utf8')).toBe(before);
  });
});

test.each(['sandbox_mode = "workspace-write"', 'default_permissions = ":workspace"'])(
  'a user whose agents write by default trusts no folder by that: %s',
  async (keys) => {
    const { engine, model, cwd, started, config, before } = await projectWithServer({ keys });
    expect(await engine.run(watchedRun(cwd))).toMatchObject({ ok: true });
    expect(existsSync(started)).toBe(false);
    expect(readFileSync(config, 'utf8')).toBe(before);
    expect(model.sent).toContain('`sandbox_mode` is `workspace-write`');
    expect(model.sent).not.toContain('`approval_policy` is `unless-trusted`');
  },
);

test('in a folder that the user does trust, its settings hold and its servers stay off', async () => {
  const { engine, model, cwd, started, project, codexHome } = await projectWithServer();
  const config = join(codexHome, 'config.toml');
  const trust = `\n[projects."${cwd}"]\ntrust_level = "trusted"\n`;
  project.write('home/.codex/config.toml', readFileSync(config, 'utf8') + trust);
  expect(await engine.run(watchedRun(cwd))).toMatchObject({ ok: true });
  expect(model.requests[0]?.body.text).toEqual({ verbosity: 'high' });
  expect(existsSync(started)).toBe(false);
});

test('servers of the user’s own configuration are not the agent’s', async () => {
  const project = await realEngine({ script: [DONE] });
  const started = join(project.project.dir, 'was-started');
  const tables = `${touching('own', started)}\n${touching('memory', started)}`;
  const { engine, model, cwd } = await realEngine({ script: [DONE], tables });
  const servers = [
    attachedServer({ key: 'given', cmd: process.execPath, args: [TOOLBOX] }),
    attachedServer({ key: 'memory', cmd: process.execPath, args: [TOOLBOX, 'mine'] }),
  ];
  expect(await engine.run(watchedRun(cwd, { servers }))).toMatchObject({ ok: true });
  expect(existsSync(started)).toBe(false);
  const names = model.requests[0]?.body.tools?.flatMap(({ name = '' }) => name) ?? [];
  expect(names.filter((name) => name.startsWith('mcp__'))).toEqual(['mcp__given', 'mcp__memory']);
});

test('a server of the same name that is reached in another way makes way', async () => {
  const tables = '[mcp_servers.memory]\nurl = "http://127.0.0.1:9/mcp"\n';
  const { engine, model, cwd } = await realEngine({ script: [DONE], tables });
  const servers = [attachedServer({ cmd: process.execPath, args: [TOOLBOX] })];
  expect(await engine.run(watchedRun(cwd, { servers }))).toMatchObject({ ok: true });
  expect(model.requests[0]?.body.tools?.map(({ name }) => name)).toContain('mcp__memory_2');
});

test('a server may use only the tools that it is attached with', async () => {
  const { engine, model, cwd } = await realEngine({ script: [DONE] });
  const servers = [
    attachedServer({ cmd: process.execPath, args: [TOOLBOX], enabledTools: ['echo'] }),
  ];
  await engine.run(watchedRun(cwd, { servers }));
  const space = model.requests[0]?.body.tools?.find(({ name }) => name === 'mcp__memory');
  expect(JSON.stringify(space)).toContain('"echo"');
  expect(JSON.stringify(space)).not.toContain('where_am_i');
});

test('a server gets what it was given, the depth and the folder, and no key of ours', async () => {
  const { engine, model, cwd } = await realEngine({
    script: [
      { kind: 'calls', namespace: 'mcp__memory', tool: 'where_am_i', args: {} },
      { kind: 'says', text: 'done' },
    ],
    env: { OPENAI_API_KEY: 'key-of-the-user' },
  });
  const servers = [
    attachedServer({ cmd: process.execPath, args: [TOOLBOX], env: { GIVEN: 'this' } }),
  ];
  await engine.run(watchedRun(cwd, { servers }));
  const answer = model.requests[1]?.body.input.at(-1);
  const text = JSON.stringify(answer).replaceAll('\\', '');
  expect(text).toContain('"GIVEN":"this"');
  expect(text).toContain('"SWITCHBOARD_DEPTH":"1"');
  expect(text).toContain(`"cwd":"${cwd}"`);
  expect(text).not.toContain('key-of-the-user');
});

test('nothing of a run is kept in the user’s home but what the engine needs for itself', async () => {
  const { engine, cwd, codexHome } = await realEngine({ script: [DONE] });
  const task = 'MARKER-OF-THE-TASK';
  const config = readFileSync(join(codexHome, 'config.toml'), 'utf8');
  await engine.run(watchedRun(cwd, { task, agent: plainAgent({ instructions: 'MARKER-OF-ALL' }) }));
  expect(readFileSync(join(codexHome, 'config.toml'), 'utf8')).toBe(config);
  const files = readdirSync(codexHome, { recursive: true, encoding: 'utf8' });
  expect(
    files.filter((file) => /^(sessions|archived_sessions|auth\.json|history)/.test(file)),
  ).toEqual([]);
  const found = spawnGrep(['-rlE', 'MARKER-OF-(THE-TASK|ALL)', codexHome]);
  expect(found).toEqual([]);
});

test('a key of the environment is in no file, neither while a command runs nor afterwards', async () => {
  const key = 'sk-key-of-the-user-0123456789';
  const { engine, model, cwd, project } = await realEngine({
    script: [{ kind: 'calls', tool: 'exec_command', args: { cmd: 'touch begun; sleep 2' } }, DONE],
    isOpenai: true,
    env: { OPENAI_API_KEY: key },
  });
  const found = () => spawnGrep(['-rlaF', key, project.dir]);
  const agent = plainAgent({ run: { sandbox: 'danger-full-access', approvals: 'never' } });
  const running = engine.run(watchedRun(cwd, { agent }));
  expect(await eventually(() => existsSync(join(cwd, 'begun')))).toBe(true);
  expect(found()).toEqual([]);
  expect(await running).toEqual({ ok: true, output: 'done' });
  expect(model.requests[0]?.authorization).toBe(`Bearer ${key}`);
  expect(found()).toEqual([]);
});

test('a server may have any name', async () => {
  const { engine, model, cwd } = await realEngine({ script: [DONE] });
  const servers = ['__proto__', 'constructor'].map((key) =>
    attachedServer({ key, cmd: process.execPath, args: [TOOLBOX] }),
  );
  expect(await engine.run(watchedRun(cwd, { servers }))).toMatchObject({ ok: true });
  const names = model.requests[0]?.body.tools?.flatMap(({ name = '' }) => name) ?? [];
  expect(names.filter((name) => name.startsWith('mcp__')).sort()).toEqual([
    'mcp____proto__',
    'mcp__constructor',
  ]);
});

function spawnGrep(args: string[]): string[] {
  try {
    return execFileSync('grep', args).toString().split('\n').filter(Boolean);
  } catch {
    return []; // it found nothing
  }
}
