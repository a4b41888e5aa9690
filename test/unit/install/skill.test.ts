// Where links cannot be made: elsewhere the end-to-end tests see the real ones.
import { lstatSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findInstallPlaces } from '../../../src/install/places.ts';
import { installSkill, SKILL, uninstallSkill } from '../../../src/install/skill.ts';
import { createProject } from '../../support/project.ts';

function refuse(code: string): () => never {
  return () => {
    throw Object.assign(new Error(`${code}: operation not permitted`), {
      code,
      syscall: 'symlink',
    });
  };
}

test('a copy replaces the link, is updated, and is removed again', () => {
  const { dir, env } = createProject();
  const places = findInstallPlaces(dir, env);
  const options = { places, dryRun: false };

  const first = installSkill(options, refuse('EPERM'));
  const second = installSkill(options, refuse('EPERM'));

  expect(first.map(({ action }) => action)).toEqual(['write', 'copy', 'create']);
  expect(second).toEqual([]);
  expect(lstatSync(places.skillLink).isFile()).toBe(true);
  expect(readFileSync(places.skillLink, 'utf8')).toBe(SKILL);
  expect(uninstallSkill(options).changes.map(({ action }) => action)).toEqual(['remove', 'remove']);
});

test('any other error is reported', () => {
  const { dir, env } = createProject();
  const options = { places: findInstallPlaces(dir, env), dryRun: false };
  expect(() => installSkill(options, refuse('EACCES'))).toThrow(
    expect.objectContaining({ code: 'INSTALL_FAILED' }),
  );
});

test('a link replaces a copy as soon as it can be created', () => {
  const { dir, env } = createProject();
  const places = findInstallPlaces(dir, env);
  installSkill({ places, dryRun: false }, refuse('EPERM'));
  expect(installSkill({ places, dryRun: false })).toEqual([
    { action: 'link', path: places.skillLink, to: places.skillCopy },
  ]);
});
