import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findFolders } from '../../../src/config/files/places.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { createProject } from '../../support/project.ts';

test.each([
  ['HOME alone', (dir: string) => ({ HOME: dir })],
  ['a home of its own', (dir: string) => ({ HOME: dir, SWITCHBOARD_HOME: join(dir, 'own') })],
  ['a relative home', (dir: string) => ({ HOME: dir, SWITCHBOARD_HOME: 'own' })],
  ['a home with ~', (dir: string) => ({ HOME: dir, SWITCHBOARD_HOME: '~/own' })],
  ['empty variables', (dir: string) => ({ HOME: dir, SWITCHBOARD_HOME: '', WORKSPACE_DIR: '' })],
  ['no HOME', (dir: string) => ({ SWITCHBOARD_HOME: join(dir, 'own') })],
  ['another project', (dir: string) => ({ HOME: dir, WORKSPACE_DIR: '~/mcps' })],
])('the folders match the configuration’s: %s', async (_what, envIn) => {
  const { dir } = createProject({ 'mcps/note.txt': '' });
  const env = envIn(dir);
  const { home, project } = await loadConfig({ cwd: dir, env });
  expect(findFolders({ cwd: dir, env })).toMatchObject({ home, project });
});
