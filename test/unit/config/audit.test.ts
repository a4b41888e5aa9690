import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProject } from './temp-project.ts';

/** A project whose user has this configuration. */
function withUser(user: object, project: object = {}) {
  const created = createProject({ 'switchboard.config.json': project });
  const home = join(created.homeFolder, '.switchboard');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'switchboard.config.json'), JSON.stringify(user));
  return { ...created, home };
}

test('the user turns the audit log on', async () => {
  const { load, home } = withUser({ audit: true });
  expect((await load()).audit).toEqual({
    folder: join(home, 'audit'),
    required: false,
    maxFileBytes: 10 * 1024 * 1024,
    keepDays: 90,
  });
});

test('settings of the audit log override the defaults', async () => {
  const { load } = withUser({ audit: { required: true, keepDays: 7 } });
  expect((await load()).audit).toMatchObject({ required: true, keepDays: 7 });
});

test.each([{ audit: false }, {}])('the audit log is off with %j', async (user) => {
  const { load } = withUser(user);
  expect(await load()).not.toHaveProperty('audit');
});

test.each([true, false])('a project cannot set audit to %s', async (audit) => {
  const { load, plain } = withUser({ audit: { keepDays: 7 } }, { audit });
  const { audit: settings, warnings } = await load();
  expect(settings).toMatchObject({ keepDays: 7 });
  expect(warnings.map(plain)).toEqual([
    '<project>/switchboard.config.json: "audit" is ignored here. Set it in <home>/.switchboard/switchboard.config.json.',
  ]);
});

test.each([
  [{ audit: 'on' }, 'audit: expected'],
  [{ audit: { keepDays: 0 } }, 'audit.keepDays: expected'],
  [{ audit: { keep: 1 } }, 'audit.keep: unknown key'],
])('%j is not valid', async (user, problem) => {
  expect(await withUser(user).loadError()).toContain(problem);
});
