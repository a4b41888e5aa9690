// Permissions and hooks hold for servers that an agent's engine uses by itself, resources and prompts included.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentProject, toml } from '../support/agent-project.ts';
import { runSwitchboard } from '../support/command.ts';
import { FIXTURES, PROGRAM } from '../support/project.ts';
import { testServer } from '../support/servers.ts';

const USER_FILE = 'home/.switchboard/switchboard.config.json';
const DENY = { deny: ['box__delete_file', 'box__secret', 'box__box://secret'] };

/** The server's secret. */
const CANARY = 'canary-91f0';

interface Use {
  readonly enabled: readonly string[];
  readonly listed: readonly string[];
  readonly used: Readonly<Record<string, string>>;
}

interface Setup {
  readonly settings: object;
  /** Of the agent's file. */
  readonly keys?: (server: { command: string; args: string[] }) => string;
}

/** Runs an agent whose engine uses everything its only server has. */
async function useAll({ settings, keys = () => 'tools = ["box::*"]' }: Setup) {
  const project = agentProject({});
  const log = join(project.dir, 'used.log');
  const server = { ...testServer('guarded', log), env: { TOKEN: CANARY } };
  project.write(USER_FILE, { mcpServers: { box: server }, ...settings });
  project.write('home/.switchboard/agents/a.toml', toml('Able', keys(server)));
  const run = await runSwitchboard(project, ['run', 'able', 'script: uses-all', '--json']);
  const { ok, output, notes } = JSON.parse(run.stdout) as {
    ok: boolean;
    output: string;
    notes?: string[];
  };
  expect({ ok, stderr: run.stderr }).toEqual({ ok: true, stderr: '' });
  const used = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
  const tables = project.thread().config['mcp_servers'] as Record<string, { args: string[] }>;
  return { project, output, notes, tables, reached: used.filter((line) => line !== 'start') };
}

const useOf = (output: string): Use => JSON.parse(output) as Use;

test('without rules, the engine gets the server itself', async () => {
  const { output, tables, reached } = await useAll({ settings: {} });
  expect(tables['box']?.args.join(' ')).not.toContain(PROGRAM);
  expect(useOf(output).listed).toEqual(['box://open', 'box://secret', 'greet', 'secret']);
  expect(reached).toContain('resources/read box://secret');
});

const OWN = {
  command: 'tools = ["box::*"]',
  same: (server: { command: string; args: string[] }) =>
    `[mcp_servers.mine]\ncommand = ${JSON.stringify(server.command)}\nargs = ${JSON.stringify(server.args)}`,
};

test.each([
  ["one of Switchboard's own servers", () => OWN.command],
  ['the same server, which the agent brings along under another name', OWN.same],
])('denied resources and prompts stay denied: %s', async (_, keys) => {
  const { output, reached, tables } = await useAll({ settings: { permissions: DENY }, keys });
  const { enabled, listed, used } = useOf(output);
  expect(enabled).toEqual(['plain', 'read_file']);
  expect(listed).toEqual(['box://open', 'greet']);
  expect(used['box://open']).toContain('content');
  expect(used['greet']).toContain('greet');
  expect(used['plain']).toContain('called plain');
  expect(used['box://secret']).toMatch(/not allowed|not found/i);
  expect(used['secret']).toMatch(/not allowed|unknown/i);
  expect(reached.sort()).toEqual([
    'prompts/get greet',
    'resources/read box://open',
    'tools/call plain',
    'tools/call read_file',
  ]);
  const [table] = Object.values(tables);
  expect(table?.args).toContain('agent-server');
  expect(table?.args.join()).not.toContain(CANARY);
});

test('calls that need approval are refused if the engine cannot ask', async () => {
  const { output, reached } = await useAll({ settings: { permissions: { ask: ['box__@read'] } } });
  const { enabled, used } = useOf(output);
  expect(enabled).toEqual(['delete_file', 'plain']);
  expect(used['box://open']).toContain("needs the user's approval");
  expect(used['greet']).toContain("needs the user's approval");
  expect(reached.sort()).toEqual(['tools/call delete_file', 'tools/call plain']);
});

test('rules for tools only leave the server with the engine', async () => {
  const { tables } = await useAll({ settings: { permissions: { deny: ['@destructive'] } } });
  expect(tables['box']?.args.join(' ')).not.toContain(PROGRAM);
});

const HOOK = {
  command: process.execPath,
  args: [join(FIXTURES, 'programs/hook.mjs'), 'journal'],
  timeoutMs: 60_000,
};

test('hooks run, and the audit log has the calls', async () => {
  const hooks = { beforeCall: [{ ...HOOK, tools: ['box__p*'] }] };
  const { project, output } = await useAll({ settings: { hooks, audit: true } });
  expect(useOf(output).used['plain']).toContain('called plain');
  const journal = readFileSync(join(project.dir, 'home/.switchboard/journal'), 'utf8');
  expect(journal).toBe('PreToolUse mcp__box__plain\n');
  const { stdout } = await runSwitchboard(project, ['audit', 'export', '--json']);
  const { entries } = JSON.parse(stdout) as { entries: Record<string, unknown>[] };
  const calls = entries.filter(({ type }) => type === 'call').map(({ target }) => target);
  expect(calls).toEqual(expect.arrayContaining(['plain', 'read_file', 'delete_file']));
});

test('a server that hooks know by another name is left out', async () => {
  const hooks = { beforeCall: [{ ...HOOK, tools: ['box'] }] };
  const { output, notes } = await useAll({ settings: { hooks }, keys: OWN.same });
  expect(output).toBe('no server');
  expect(notes?.[0]).toContain('is the same as server "box", for which hooks run.');
});
