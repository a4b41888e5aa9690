// Which hooks count: the user's, and those of a project that the user has approved.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type JudgedSubject, type TrustMode } from '../../../src/config/judge.ts';
import { recordDecisions } from '../../../src/trust/approvals/decide.ts';
import { describeSubject } from '../../../src/trust/approvals/describe.ts';
import { judgeOpener } from '../../../src/trust/approvals/open.ts';
import { commitAll } from '../../support/git.ts';
import { createProject } from './temp-project.ts';

/** A project whose user has this configuration. */
function withUser(user: object, files: Record<string, string | object> = {}) {
  const created = createProject(files);
  const home = join(created.homeFolder, '.switchboard');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'switchboard.config.json'), JSON.stringify(user));
  return { ...created, home };
}

test('hooks run in the folder of the user’s file, never in the project', async () => {
  const beforeCall = [{ command: './check.sh' }, { command: 'node', args: ['x.js'] }];
  const { load, home } = withUser({ hooks: { beforeCall, afterCall: [{ command: '~/note' }] } });
  const { hooks, warnings } = await load();
  const usual = { cwd: home, args: [], tools: ['*'], timeoutMs: 5_000 };
  expect(hooks).toEqual({
    beforeCall: [
      { ...usual, command: join(home, 'check.sh') },
      { ...usual, command: 'node', args: ['x.js'] },
    ],
    afterCall: [{ ...usual, command: join(home, '..', 'note') }],
  });
  expect(warnings).toEqual([]);
});

describe('hooks of a project', () => {
  const FILE = 'switchboard.config.json';
  const GUARD = { command: './guard', args: ['--strict', 'two words'], tools: ['box__*'] };

  /** A project with these hooks, judged as the program does it. */
  function withHooks(hooks: object, user: object = {}, file = FILE) {
    const content = file === FILE ? { hooks } : `export default ${JSON.stringify({ hooks })};`;
    const created = withUser(user, { [file]: content });
    const openJudge = judgeOpener({ lists: true });
    const load = (trust?: TrustMode) => created.load({ openJudge, trust });
    const judgedHooks = async (): Promise<JudgedSubject> => {
      const { gate } = await load();
      gate?.judge?.save();
      const found = gate?.judge?.judged.find(({ subject }) => subject.kind === 'hooks');
      if (!found) throw new Error('There are no hooks.');
      return found;
    };
    const decide = async (decision: 'approved' | 'denied' | 'revoked') =>
      recordDecisions(created.home, [await judgedHooks()], decision);
    return { ...created, load, judgedHooks, decide };
  }

  test.each(['yours', 'foreign'] as const)('wait in a file that is %s', async (origin) => {
    const { load, folder, judgedHooks } = withHooks({ beforeCall: [GUARD] });
    if (origin === 'foreign') commitAll(folder);
    // Looking at them is not a decision.
    for (let time = 0; time < 2; time++) {
      expect(await judgedHooks()).toMatchObject({ verdict: 'pending', subject: { origin } });
      const { hooks, warnings } = await load();
      expect(hooks).toBeUndefined();
      expect(warnings).toEqual([
        "One part of this project's configuration needs your approval. Run: switchboard trust",
      ]);
    }
  });

  test('are shown with their whole command lines, tools and time limits', async () => {
    const { judgedHooks } = withHooks({
      beforeCall: [GUARD, { command: 'node', args: ['-e', 'a\u200bb'] }],
      afterCall: [{ command: 'note', timeoutMs: 100 }],
    });
    expect(describeSubject(await judgedHooks())).toEqual([
      'before calls runs: ./guard --strict "two words"',
      '  for tools: box__*',
      '  for at most: 5000 ms',
      'before calls runs: node -e "a<U+200B>b"',
      '  for tools: *',
      '  for at most: 5000 ms',
      'can read, deny, change and reroute these calls',
      'after calls runs: note',
      '  for tools: *',
      '  for at most: 100 ms',
      'can read the results of these calls, and add notes to them',
    ]);
  });

  test("run after the user's once they are approved, in the folder of the project's file", async () => {
    const user = { hooks: { beforeCall: [{ command: 'mine' }] } };
    const { load, decide, folder, home } = withHooks({ beforeCall: [GUARD] }, user);
    expect((await load()).hooks?.beforeCall).toHaveLength(1);
    await decide('approved');
    const { hooks, warnings } = await load();
    const usual = { args: [], tools: ['*'], timeoutMs: 5_000 };
    expect(hooks).toEqual({
      beforeCall: [
        { ...usual, command: 'mine', cwd: home },
        {
          ...GUARD,
          command: join(folder, 'guard'),
          cwd: folder,
          timeoutMs: 5_000,
          ofProject: { file: join(folder, FILE), environment: 'inherit' },
        },
      ],
      afterCall: [],
    });
    expect(warnings).toEqual([]);
  });

  test.each([
    ['an argument', { beforeCall: [{ ...GUARD, args: ['--strict'] }] }],
    ['a tool', { beforeCall: [{ ...GUARD, tools: ['*'] }] }],
    ['the time limit', { beforeCall: [{ ...GUARD, timeoutMs: 1 }] }],
    ['the event', { afterCall: [GUARD] }],
    ['another hook', { beforeCall: [GUARD, GUARD] }],
  ])('wait again after a change of %s', async (_what, changed) => {
    const { load, decide, judgedHooks, write } = withHooks({ beforeCall: [GUARD] });
    await decide('approved');
    expect((await load()).hooks?.beforeCall).toHaveLength(1);
    write(FILE, { hooks: changed });
    expect((await load()).hooks).toBeUndefined();
    expect((await judgedHooks()).verdict).toBe('changed');
  });

  test('stay approved if something else in the file changes', async () => {
    const { load, decide, write } = withHooks({ beforeCall: [GUARD] });
    await decide('approved');
    write(FILE, { hooks: { beforeCall: [GUARD] }, timeouts: { rpcMs: 5 } });
    expect((await load()).hooks?.beforeCall).toHaveLength(1);
  });

  test.each(['denied', 'revoked'] as const)('do not run after they were %s', async (decision) => {
    const { load, decide } = withHooks({ beforeCall: [GUARD] });
    await decide('approved');
    await decide(decision);
    expect((await load()).hooks).toBeUndefined();
  });

  test('also wait if JavaScript exports them', async () => {
    const file = 'switchboard.config.mjs';
    const { load, decide } = withHooks({ beforeCall: [GUARD] }, {}, file);
    expect((await load()).hooks).toBeUndefined();
    await decide('approved');
    expect((await load()).hooks?.beforeCall).toHaveLength(1);
  });

  test('need no approval if every file is trusted', async () => {
    const { load } = withHooks({ beforeCall: [GUARD] });
    expect((await load('all')).hooks?.beforeCall).toHaveLength(1);
    expect((await load('ask')).hooks).toBeUndefined();
  });

  test('leave the settings next to them alone', async () => {
    const { load, write } = withHooks({});
    write(FILE, { hooks: { beforeCall: [GUARD] }, permissions: { deny: ['box'] } });
    const { hooks, permissions } = await load();
    expect([hooks, permissions]).toEqual([undefined, expect.anything()]);
  });
});

test.each([
  [{ hooks: { beforeCall: { command: 'node' } } }, 'hooks.beforeCall: expected'],
  [{ hooks: { afterCall: [{ args: [] }] } }, 'hooks.afterCall[0].command: expected'],
  [{ hooks: { before: [] } }, 'hooks.before: unknown key'],
])('%j is not valid', async (user, problem) => {
  expect(await withUser(user).loadError()).toContain(problem);
});
