// Hooks of the user and of a project, around the calls of a host.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { type Trial, type TrialOptions, withFaults } from '../support/faults.ts';
import { becomes } from '../support/gateway.ts';
import { FIXTURES } from '../support/project.ts';
import { textOf } from '../support/raw-host.ts';
import { slow, test } from '../support/slow.ts';

const USER_FILE = 'home/.switchboard/switchboard.config.json';
const HOOK = {
  command: process.execPath,
  args: [join(FIXTURES, 'programs/hook.mjs'), 'journal'],
  tools: ['kid'],
  timeoutMs: 60_000,
};

const withHooks = (hooks: object): TrialOptions => ({
  files: { [USER_FILE]: { audit: true, hooks } },
});

const journalOf = ({ project }: Trial): string[] =>
  readFileSync(join(project.dir, 'home/.switchboard/journal'), 'utf8').trimEnd().split('\n');

test('a hook denies, changes and reroutes calls before their server gets them', () =>
  withFaults(
    { kid: {} },
    async (trial) => {
      const { host, project } = trial;
      expect(trial.failure(await host.call('kid', 'fail'))).toMatchInlineSnapshot(
        `"A hook denied the call to subtool "fail" of server "kid": This tool only fails. To change this, edit hooks.beforeCall[0] in your configuration."`,
      );
      expect(trial.failure(await host.call('kid', 'env'))).toMatchInlineSnapshot(
        `"The call to subtool "env" of server "kid" was refused because hooks.beforeCall[0] (node) exited with status 1. Fix or remove the hook. Switchboard's log has its output."`,
      );
      expect(trial.journal('kid', 'start')).toEqual([]);

      const changed = await host.call('kid', 'args', { a: 1 });
      expect(JSON.parse(textOf(changed))).toEqual({ a: 1, user: 'me' });
      expect(textOf(await host.call('kid', 'pid', { text: 'from calm' }))).toBe('from calm');
      expect(textOf(await host.call('kid', 'echo', { text: 'as it is' }))).toBe('as it is');
      await trial.askNeighbour(); // no hook is for it
      expect(journalOf(trial)).toEqual([
        'PreToolUse mcp__kid__fail',
        'PreToolUse mcp__kid__env',
        'PreToolUse mcp__kid__args',
        'PreToolUse mcp__kid__pid',
        'PreToolUse mcp__kid__echo',
      ]);

      const { stdout } = await runSwitchboard(project, ['audit', 'export', '--json']);
      const { entries } = JSON.parse(stdout) as { entries: Record<string, unknown>[] };
      const decisions = entries.filter(({ type }) => type === 'decision');
      expect(decisions.map(({ decision, server, tool }) => [decision, server, tool])).toEqual([
        ['deny', 'kid', 'fail'],
        ['deny', 'kid', 'env'],
        ['change', 'kid', 'args'],
        ['route', 'calm', 'echo'],
      ]);
    },
    withHooks({ beforeCall: [HOOK] }),
  ));

slow('a hook adds a note to the result', () =>
  withFaults(
    { kid: {} },
    async (trial) => {
      const { result } = await trial.host.call('kid', 'echo', { text: 'hello' });
      expect(result?.content).toEqual([
        { type: 'text', text: 'hello' },
        { type: 'text', text: 'Note from a hook: echo was called' },
      ]);
    },
    withHooks({ afterCall: [HOOK] }),
  ),
);

slow('hooks hold for a server’s own tools and for the command line', () =>
  withFaults(
    { kid: { show: 'direct' } },
    async (trial) => {
      const { host, project } = trial;
      await becomes(async () => (await host.toolNames()).includes('fail'));
      expect(trial.failure(await host.callTool('fail'))).toContain('A hook denied the call');

      const { status, stderr } = await runSwitchboard(project, ['call', 'kid.fail']);

      expect(status).toBe(4);
      expect(stderr).toContain('A hook denied the call to subtool "fail" of server "kid"');
    },
    withHooks({ beforeCall: [HOOK] }),
  ),
);

test('a hook in a project runs once it is approved, and not after a change', () =>
  withFaults(
    { kid: {} },
    async (trial) => {
      const { host, project } = trial;
      const journal = join(project.dir, 'journal');
      expect(textOf(await host.call('kid', 'echo', { text: 'hello' }))).toBe('hello');
      expect(host.stderr).toContain(
        "One part of this project's configuration needs your approval. Run: switchboard trust",
      );
      expect(existsSync(journal)).toBe(false);

      const approved = await runSwitchboard(project, ['trust', 'approve', 'hooks']);
      expect(approved.stdout).toContain(`before calls runs: ${process.execPath} ${HOOK.args[0]}`);
      await runSwitchboard(project, ['reload']);
      expect(trial.failure(await host.call('kid', 'fail'))).toBe(
        'A hook denied the call to subtool "fail" of server "kid": This tool only fails. To change this, edit hooks.beforeCall[0] in <project>/switchboard.config.json.',
      );
      expect(readFileSync(journal, 'utf8')).toBe('PreToolUse mcp__kid__fail\n');

      const file = join(project.dir, 'switchboard.config.json');
      writeFileSync(file, readFileSync(file, 'utf8').replace('"journal"', '"other"'));
      await runSwitchboard(project, ['reload']);
      expect(textOf(await host.call('kid', 'echo', { text: 'again' }))).toBe('again');
      expect(existsSync(join(project.dir, 'other'))).toBe(false);
      const { stdout } = await runSwitchboard(project, ['trust', 'diff']);
      expect(stdout).toContain('changed  hooks');
    },
    { config: { hooks: { beforeCall: [HOOK] } } },
  ));
