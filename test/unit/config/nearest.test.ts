import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeNearest } from '../../../src/config/files/nearest.ts';
import { createProject } from './temp-project.ts';

const CHILD = { command: 'node' };

describe('above a subfolder', () => {
  test.each([
    ['switchboard.config.json', 'switchboard.config.json', { mcpServers: { a: CHILD } }],
    ['switchboard.config.mjs', 'switchboard.config.mjs', 'export default {}'],
    ['.switchboard/servers.json', '.switchboard/servers.json', { a: CHILD }],
    ['mcps/a/.mcp.json', 'mcps', { name: 'a', ...CHILD }],
    ['.switchboard/mcps/a/.mcp.json', '.switchboard/mcps', { name: 'a', ...CHILD }],
  ])('%s is named', (file, named, content) => {
    const { folder, homeFolder, write } = createProject({ 'src/deep/down/x': '' });
    write(file, content);
    const nearest = describeNearest({
      project: join(folder, 'src/deep/down'),
      home: join(homeFolder, '.switchboard'),
      homeFolder,
    });
    expect(nearest).toBe(
      `The nearest configuration is ${join(folder, named)}. To use it, start Switchboard in ${folder} or set WORKSPACE_DIR=${folder}.`,
    );
  });

  test('the nearest of several is named, and nothing is loaded', async () => {
    const { folder, homeFolder, load } = createProject({
      'switchboard.config.mjs': 'throw new Error("must not run")',
      'src/switchboard.config.mjs': 'throw new Error("must not run")',
      'src/deep/x': '',
    });
    const project = join(folder, 'src/deep');
    const home = join(homeFolder, '.switchboard');
    expect(describeNearest({ project, home, homeFolder })).toContain(
      `${join(folder, 'src/switchboard.config.mjs')}.`,
    );
    expect((await load({ cwd: project })).children.size).toBe(0);
  });
});

test('the search ends at the user’s home, whose servers apply everywhere', () => {
  const { folder, homeFolder, write } = createProject();
  write('../switchboard.config.json', {});
  write('../home/.switchboard/servers.json', {});
  write('../home/work/x', '');
  const home = join(homeFolder, '.switchboard');
  const nearestOf = (project: string) => describeNearest({ project, home, homeFolder });
  expect(nearestOf(join(homeFolder, 'work'))).toBeUndefined();
  expect(nearestOf(homeFolder)).toBeUndefined();
  expect(nearestOf(folder)).toContain('/switchboard.config.json.');
  write('../home/switchboard.config.json', {});
  expect(nearestOf(join(homeFolder, 'work'))).toContain('/home/switchboard.config.json.');
});
