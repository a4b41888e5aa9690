// What is read of the engine's own folder before the engine is started.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readUserConfig } from '../../../../src/agents/codex/user-config.ts';
import { createProject } from '../../../support/project.ts';

const nothingSaid = {
  isSignedOut: true,
  model: undefined,
  modelProvider: undefined,
  modelCatalog: undefined,
};

test('reads the model, its provider and the model list', async () => {
  const { dir: folder } = createProject();
  const text = 'model = "mine"\nmodel_provider = "azure"\nmodel_catalog_json = "models.json"\n';
  writeFileSync(join(folder, 'config.toml'), text);
  expect(await readUserConfig(folder)).toEqual({
    ...nothingSaid,
    model: 'mine',
    modelProvider: 'azure',
    modelCatalog: join(folder, 'models.json'),
  });
});

test.each<[string, (file: string) => unknown]>([
  ['not there', () => {}],
  ['a folder', (file) => mkdirSync(file)],
  ['a pipe', (file) => execFileSync('mkfifo', [file])],
  ['too long', (file) => writeFileSync(file, `model = "mine"\n${'#'.repeat(9 << 20)}`)],
  ['not TOML', (file) => writeFileSync(file, 'model = "mine"\n=')],
])('a config.toml that is %s is ignored without blocking', async (_what, make) => {
  const { dir: folder } = createProject();
  make(join(folder, 'config.toml'));
  expect(await readUserConfig(folder)).toEqual(nothingSaid);
});
